-- What a range of keys holds: the same for the same keys of the same versions.
CREATE OR REPLACE FUNCTION lazuli.digest_1(from_k bytea, to_k bytea) RETURNS uuid
LANGUAGE sql STABLE AS $$
    SELECT md5(coalesce(string_agg(int4send(octet_length(k)) || k || uuid_send(ver), ''::bytea ORDER BY k), ''::bytea))::uuid
    FROM lazuli.kv WHERE k >= from_k AND k < to_k
$$;
