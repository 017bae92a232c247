-- Rows compared with EXCEPT and INTERSECT, which take NULL for a value.
CREATE TABLE was (id INT PRIMARY KEY, a INT NULL, b VARCHAR(5) NULL)
CREATE TABLE new (id INT PRIMARY KEY, a INT NULL, b VARCHAR(5) NULL)
INSERT was VALUES (1, 1, 'x'), (2, NULL, 'y'), (3, NULL, NULL)
INSERT new VALUES (1, 1, 'x'), (2, 5, 'y'), (3, NULL, NULL), (4, 4, 'z')
SELECT n.id FROM new AS n JOIN was AS w ON w.id = n.id WHERE EXISTS (SELECT n.* EXCEPT SELECT w.*)
SELECT n.id FROM new AS n JOIN was AS w ON w.id = n.id WHERE EXISTS (SELECT n.a, n.b INTERSECT SELECT w.a, w.b) ORDER BY n.id
SELECT * FROM new EXCEPT SELECT * FROM was ORDER BY id
MERGE was AS t USING new AS s ON s.id = t.id
WHEN MATCHED AND EXISTS (SELECT s.* EXCEPT SELECT t.*) THEN UPDATE SET a = s.a, b = s.b
WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (s.id, s.a, s.b)
OUTPUT $action, inserted.id;
