-- Of the first `$4` rows of a range, how many have a value above `$3` (or are there, when that is NULL); the key of the
-- next one; how many of them are long keys, whose order is not that of the index.
SELECT count(*) FILTER (WHERE n <= $4::bigint AND ($3::bytea IS NULL OR v > $3)) AS counted,
    (array_agg(k) FILTER (WHERE n > $4))[1] AS next,
    count(kx) AS long
FROM (
    SELECT k, kx, v, row_number() OVER (ORDER BY k) AS n
    FROM (SELECT k, kx, v FROM lazuli.kv WHERE k >= $1::bytea AND k < $2::bytea ORDER BY k LIMIT $4::bigint + 1) AS page
) AS numbered
