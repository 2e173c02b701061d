-- The engine's clock in ticks of 100 ns. `seen` is what the asking server has seen, so that its time never goes back;
-- `fixed` takes the server's word for it, for tests whose clock stands still. `base` is that of lazuli.clock: where the
-- clock of this node is behind what servers have seen, all of them are told the same time, which runs at seven eighths of
-- the node's until that has caught up.
CREATE OR REPLACE FUNCTION lazuli.now_1(fixed boolean, seen bigint, base bigint) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN fixed THEN seen
        ELSE greatest(seen, (extract(epoch FROM clock_timestamp()) * 10000000)::bigint,
            (extract(epoch FROM clock_timestamp()) * 8750000)::bigint + base) END
$$;
