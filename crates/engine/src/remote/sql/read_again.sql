-- The same, and which of the keys read before have changed since.
SELECT 0 AS i, NULL::uuid AS ver, NULL::bytea AS v, lazuli.now_1($1::boolean, $2::bigint, c.base) AS now
FROM lazuli.clock AS c
UNION ALL
SELECT t.i::int, kv.ver, kv.v, NULL
FROM unnest($3::bytea[]) WITH ORDINALITY AS t(k, i) JOIN lazuli.kv ON kv.k = t.k
UNION ALL
SELECT -e.i::int, NULL, NULL, NULL
FROM unnest($4::bytea[], $5::uuid[]) WITH ORDINALITY AS e(k, ver, i) LEFT JOIN lazuli.kv ON kv.k = e.k
WHERE kv.ver IS DISTINCT FROM e.ver
