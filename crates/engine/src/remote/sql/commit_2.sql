-- Commits a group of independent members: none writes what another checks or writes. A refused member costs the others
-- nothing. Arrays that belong together have the same length; members are counted from 0.
--   group_id       names the group in lazuli.grp
--   ids            the version that each member writes
--   fixed, seen    see lazuli.now_1; `moved` is how far a test has moved the clock
--   until          the time after which each member is not to be committed any more
--   lock, alone    hashes of keys in ascending order behind that of the whole schema; alone: exclusively
--   check_*        keys that must have a version, or must be absent where that is NULL
--   made_*         of these checks, the keys that are made: the place in check_*, the hash, and when the attempt first read
--   range_*        ranges that must have a digest; their guards are locked exclusively
--   delete_*, put_*  what is written; `put_whole` is the whole key of a long one
--   gone_*         hashes of deleted keys that may be made again: each leaves the time in lazuli.gone
-- `refused` are the members that were not committed; `lost` says for each why: the place in check_*, or behind these in
-- range_*, of what did not hold, counted from 0; or -1 when it was too late.
--
-- Why it is right: under READ COMMITTED each statement of a VOLATILE function sees what was committed when it began. The locks
-- are taken first, all in one order, so there is no deadlock; they are let go when the commit is durable, replicated and
-- visible. What was judged therefore cannot change before the commit. Sessions of the other dialect are SERIALIZABLE and
-- give no locks. A key that was made and deleted again since an attempt read that there is none looks untouched; lazuli.gone,
-- which is written with the key's lock held, tells.
CREATE OR REPLACE FUNCTION lazuli.commit_2(
    group_id uuid, ids uuid[], fixed boolean, seen bigint, moved bigint, until bigint[],
    lock bigint[], alone boolean[],
    check_m int[], check_k bytea[], check_v uuid[],
    made_m int[], made_c int[], made_h bigint[], made_since bigint[],
    range_m int[], range_from bytea[], range_to bytea[], range_v uuid[],
    delete_m int[], delete_k bytea[], gone_m int[], gone_h bigint[],
    put_m int[], put_k bytea[], put_v bytea[], put_whole bytea[],
    OUT now bigint, OUT refused int[], OUT lost int[]
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    checks int := cardinality(check_m);
BEGIN
    IF cardinality(lock) > 0 THEN
        PERFORM count(CASE WHEN l.x THEN pg_advisory_xact_lock(l.h)::text
                ELSE pg_advisory_xact_lock_shared(l.h)::text END)
            FROM unnest(lock, alone) AS l(h, x);
    END IF;

    SELECT coalesce(array_agg(bad.m), '{}'), coalesce(array_agg(bad.i), '{}') INTO refused, lost FROM (
        SELECT DISTINCT ON (c.m) c.m, c.i::int - 1 AS i
        FROM unnest(check_m, check_k, check_v) WITH ORDINALITY AS c(m, k, v, i) LEFT JOIN lazuli.kv ON kv.k = c.k
        WHERE kv.ver IS DISTINCT FROM c.v
        ORDER BY c.m, c.i
    ) AS bad;

    IF cardinality(range_m) > 0 THEN
        SELECT refused || coalesce(array_agg(bad.m), '{}'), lost || coalesce(array_agg(bad.i), '{}') INTO refused, lost FROM (
            SELECT DISTINCT ON (r.m) r.m, checks + r.i::int - 1 AS i
            FROM unnest(range_m, range_from, range_to, range_v) WITH ORDINALITY AS r(m, a, b, v, i)
            WHERE NOT r.m = ANY (refused) AND lazuli.digest_1(r.a, r.b) IS DISTINCT FROM r.v
            ORDER BY r.m, r.i
        ) AS bad;
    END IF;

    SELECT lazuli.now_1(fixed, seen, c.base) INTO now FROM lazuli.clock AS c;
    -- Deletions are remembered for ten minutes (upkeep.rs). An attempt that read more than five minutes ago is refused,
    -- whatever is remembered.
    IF cardinality(made_m) > 0 THEN
        SELECT refused || coalesce(array_agg(bad.m), '{}'), lost || coalesce(array_agg(bad.c), '{}') INTO refused, lost FROM (
            SELECT DISTINCT ON (r.m) r.m, r.c
            FROM unnest(made_m, made_c, made_h, made_since) AS r(m, c, h, s) LEFT JOIN lazuli.gone ON gone.h = r.h
            WHERE NOT r.m = ANY (refused) AND (gone.at > r.s OR r.s < now - 3000000000)
            ORDER BY r.m, r.c
        ) AS bad;
    END IF;
    IF now > ANY (until) THEN
        SELECT refused || coalesce(array_agg(late.m), '{}'), lost || coalesce(array_agg(-1), '{}') INTO refused, lost FROM (
            SELECT u.i::int - 1 AS m FROM unnest(until) WITH ORDINALITY AS u(t, i)
            WHERE now > u.t AND NOT u.i - 1 = ANY (refused)
        ) AS late;
    END IF;
    IF cardinality(refused) = cardinality(ids) THEN
        RETURN;
    END IF;

    INSERT INTO lazuli.grp VALUES (group_id, now + moved, ids, refused);
    IF cardinality(delete_m) > 0 THEN
        DELETE FROM lazuli.kv USING unnest(delete_m, delete_k) AS d(m, k)
        WHERE kv.k = d.k AND NOT d.m = ANY (refused);
    END IF;
    IF cardinality(gone_m) > 0 THEN
        INSERT INTO lazuli.gone SELECT DISTINCT g.h, now FROM unnest(gone_m, gone_h) AS g(m, h) WHERE NOT g.m = ANY (refused)
        ON CONFLICT (h) DO UPDATE SET at = greatest(gone.at, EXCLUDED.at);
    END IF;
    IF cardinality(put_m) > 0 THEN
        INSERT INTO lazuli.kv (k, ver, v, kx)
        SELECT p.k, ids[p.m + 1], p.v, p.x FROM unnest(put_m, put_k, put_v, put_whole) AS p(m, k, v, x)
        WHERE NOT p.m = ANY (refused)
        ON CONFLICT (k) DO UPDATE SET ver = EXCLUDED.ver, v = EXCLUDED.v;
    END IF;
END
$$;
