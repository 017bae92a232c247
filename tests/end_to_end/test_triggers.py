"""What a table's triggers have to do with OUTPUT and with the identity values that are told."""

from end_to_end.tsql import Tsql

CHANGES = {
    "INSERT t (a) OUTPUT inserted.id VALUES (1)": "i",
    "UPDATE t SET a = 2 OUTPUT deleted.a": "u",
    "DELETE TOP (1) t OUTPUT deleted.a": "d",
    "MERGE t USING (SELECT 1 AS a) AS s ON t.a = s.a WHEN MATCHED THEN UPDATE SET a = 3"
    " WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a) OUTPUT $action;": "iu",
    ";WITH c AS (SELECT a FROM t) UPDATE c SET a = 4 OUTPUT inserted.a": "u",
}


def test_no_output_without_into_where_a_trigger_is_enabled(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE TABLE t (id int IDENTITY, a int, v rowversion)\nCREATE TABLE kept (a int)"
        "\nGO\nCREATE TRIGGER i ON t AFTER INSERT AS RETURN\nGO\nCREATE TRIGGER u ON t AFTER UPDATE AS RETURN"
        "\nGO\nCREATE TRIGGER d ON t INSTEAD OF DELETE AS RETURN\nGO\n"
        "\nINSERT t (a) OUTPUT inserted.a INTO kept VALUES (1)"
    )
    for statement, kinds in CHANGES.items():
        for kind in "iud":
            tsql.run(f"DISABLE TRIGGER ALL ON t\nENABLE TRIGGER {kind} ON t\n{statement}")
            assert [error.number for error in tsql.errors] == [334] * (kind in kinds), (statement, kind)
        tsql.run_well(
            f"DISABLE TRIGGER ALL ON t\n{statement}\nENABLE TRIGGER ALL ON t"
            "\nINSERT kept SELECT a FROM (UPDATE t SET a = 2 OUTPUT deleted.a) AS x"
        )


def test_identity_counts_what_triggers_insert_and_scope_identity_does_not(tsql: Tsql) -> None:
    """Those of nested triggers and of an UPDATE's too, whatever else a trigger draws from sequences."""
    tsql.run_well(
        "CREATE TABLE t (id int IDENTITY, a int)\nCREATE TABLE plain (a int)"
        "\nCREATE TABLE u (id int IDENTITY(100, 1), a int)\nCREATE TABLE w (id int IDENTITY(1000, 1), a int)"
        "\nCREATE SEQUENCE s START WITH 7"
        "\nGO\nCREATE TRIGGER tr ON t AFTER INSERT, UPDATE AS INSERT u (a) SELECT a FROM inserted WHERE a < 9"
        " DECLARE @n int = NEXT VALUE FOR s"
        "\nGO\nCREATE TRIGGER pr ON plain AFTER INSERT AS INSERT w (a) VALUES (1) UPDATE w SET a = 2"
        "\nGO\nCREATE TRIGGER ur ON u AFTER INSERT AS INSERT w (a) SELECT a FROM inserted WHERE a < 5"
    )
    asked = "\nSELECT @@IDENTITY, SCOPE_IDENTITY()\n"
    tsql.run_well(
        asked.join(
            [
                "INSERT w (a) VALUES (0)",
                "INSERT t (a) VALUES (1)",  # w of u of t
                "INSERT t (a) VALUES (6)",  # u of t
                "INSERT t (a) VALUES (9)",  # t alone
                "UPDATE t SET a = 8",  # u
                "INSERT plain VALUES (1)",  # w
                "",
            ]
        )
    )
    shown = [row for ((*row,),) in tsql.results]
    assert shown == [["1000", "1000"], ["1001", "1"], ["101", "2"], ["3", "3"], ["104", "3"], ["1002", "3"]]


def test_a_given_identity_value_counts_where_output_fills_a_table_variable(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE TABLE t (id int IDENTITY, a int)\nDECLARE @o TABLE (id int)\nSET IDENTITY_INSERT t ON"
        "\nINSERT t (id, a) OUTPUT inserted.id INTO @o VALUES (7, 1)\nSET IDENTITY_INSERT t OFF"
        "\nSELECT SCOPE_IDENTITY()\nINSERT t (a) OUTPUT inserted.id INTO @o VALUES (1)\nSELECT id FROM @o"
    )
    assert tsql.results == [[["7"]], [["7"], ["8"]]]
