SELECT k, kx, ver, ''::bytea AS v FROM lazuli.kv WHERE k >= $1::bytea AND k < $2::bytea ORDER BY k LIMIT $3::bigint
