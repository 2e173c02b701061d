-- The next rows of a range. Those behind `$4` bytes of keys and values come without their value.
SELECT k, kx, ver, CASE WHEN coalesce(before, 0) < $4::bigint THEN v END AS v
FROM (
    SELECT k, kx, ver, v, sum(length(k) + length(v)) OVER (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (SELECT k, kx, ver, v FROM lazuli.kv WHERE k >= $1::bytea AND k < $2::bytea ORDER BY k LIMIT $3::bigint) AS page
) AS counted
