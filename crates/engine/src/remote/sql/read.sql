-- One batch of keys: one statement, one snapshot. The row 0 is the clock.
SELECT 0 AS i, NULL::uuid AS ver, NULL::bytea AS v, lazuli.now_1($1::boolean, $2::bigint, c.base) AS now
FROM lazuli.clock AS c
UNION ALL
SELECT t.i::int, kv.ver, kv.v, NULL
FROM unnest($3::bytea[]) WITH ORDINALITY AS t(k, i) JOIN lazuli.kv ON kv.k = t.k
