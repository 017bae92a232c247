-- What SQL Server says for the error numbers of its XML parser.
CREATE OR REPLACE FUNCTION ssb_internal.xml_parsing_error(p_number integer) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE p_number
        WHEN 9400 THEN 'unexpected end of input'
        WHEN 9401 THEN 'unrecognized encoding'
        WHEN 9402 THEN 'unable to switch the encoding'
        WHEN 9403 THEN 'unrecognized input signature'
        WHEN 9410 THEN 'whitespace expected'
        WHEN 9411 THEN 'semicolon expected'
        WHEN 9412 THEN '''>'' expected'
        WHEN 9413 THEN 'A string literal was expected'
        WHEN 9414 THEN 'equal expected'
        WHEN 9415 THEN 'well formed check: no ''<'' in attribute value'
        WHEN 9416 THEN 'hexadecimal digit expected'
        WHEN 9417 THEN 'decimal digit expected'
        WHEN 9420 THEN 'illegal xml character'
        WHEN 9421 THEN 'illegal name character'
        WHEN 9422 THEN 'incorrect document syntax'
        WHEN 9423 THEN 'incorrect CDATA section syntax'
        WHEN 9424 THEN 'incorrect comment syntax'
        WHEN 9427 THEN 'incorrect DOCTYPE declaration syntax'
        WHEN 9436 THEN 'end tag does not match start tag'
        WHEN 9437 THEN 'duplicate attribute'
        WHEN 9438 THEN 'text/xmldecl not at the beginning of input'
        WHEN 9439 THEN 'namespaces beginning with "xml" are reserved'
        WHEN 9441 THEN 'incorrect xml declaration syntax'
        WHEN 9448 THEN 'well formed check: undeclared entity'
        WHEN 9451 THEN 'incorrect processing instruction syntax'
        WHEN 9454 THEN 'no '']]>'' in element content'
        WHEN 9455 THEN 'illegal qualified name character'
        WHEN 9456 THEN 'multiple colons in qualified name'
        WHEN 9459 THEN 'undeclared prefix'
        WHEN 9460 THEN 'non default namespace with empty uri'
        WHEN 9463 THEN 'xml:space has a non-legal value'
        WHEN 9465 THEN 'XML namespace prefix ''xmlns'' is reserved for use by XML.'
        ELSE 'unsupported xml' END;
END;
