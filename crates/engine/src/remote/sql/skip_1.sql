-- Rows from a key on, in order, where all whose key holds the delimiter behind the first `prefix` bytes are folded into one
-- group. Each row of the answer is
--   kind 0  an entry
--   kind 1  a group: k is what its members have in common, delimiter included
--   kind 2  the first of some long keys that share their first 2,560 bytes, which are not in order: the caller reads on
--   kind 3  there are more, from k on: `most` items or `most_bytes` of them are given
CREATE OR REPLACE FUNCTION lazuli.skip_1(from_k bytea, to_k bytea, prefix int, delimiter bytea, most bigint, most_bytes bigint)
RETURNS TABLE (kind int, k bytea, ver uuid, v bytea) LANGUAGE plpgsql STABLE AS $$
DECLARE
    r record;
    at int;
    last int;
    stepped int := 0;
    items bigint := 0;
    bytes bigint := 0;
    pos bytea := from_k;
    open bytea;
    sought boolean := true;
BEGIN
    WHILE sought LOOP
        sought := false;
        FOR r IN SELECT t.k, t.ver, t.v, t.kx IS NOT NULL AS long FROM lazuli.kv AS t
            WHERE t.k >= pos AND t.k < to_k ORDER BY t.k
        LOOP
            IF open IS NOT NULL AND substring(r.k FROM 1 FOR length(open)) = open THEN
                stepped := stepped + 1;
                CONTINUE WHEN stepped < 32;
                -- Behind every member of the group.
                last := length(open);
                WHILE last > 0 AND get_byte(open, last - 1) = 255 LOOP
                    last := last - 1;
                END LOOP;
                IF last = 0 THEN
                    RETURN;
                END IF;
                pos := set_byte(substring(open FROM 1 FOR last), last - 1, get_byte(open, last - 1) + 1);
                stepped := 0;
                sought := true;
                EXIT;
            END IF;
            open := NULL;
            IF items >= most OR (bytes >= most_bytes AND items > 0) THEN
                kind := 3; k := r.k; ver := NULL; v := NULL;
                RETURN NEXT;
                RETURN;
            END IF;
            at := CASE WHEN delimiter = ''::bytea THEN 0
                ELSE position(delimiter IN substring(r.k FROM prefix + 1 FOR greatest(0, 2560 - prefix))) END;
            IF at > 0 THEN
                open := substring(r.k FROM 1 FOR prefix + at - 1 + length(delimiter));
                stepped := 0;
                bytes := bytes + length(open);
                kind := 1; k := open; ver := NULL; v := NULL;
            ELSIF r.long THEN
                kind := 2; k := r.k; ver := NULL; v := NULL;
                RETURN NEXT;
                RETURN;
            ELSE
                bytes := bytes + length(r.k) + length(r.v);
                kind := 0; k := r.k; ver := r.ver; v := r.v;
            END IF;
            items := items + 1;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$$;
