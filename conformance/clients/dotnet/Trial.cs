// One cell, tried: the blob is brought into its state, the request is sent, and the answer and what is left are judged.
using System;
using System.Linq;
using System.Threading.Tasks;

sealed class Trial
{
    /// Of the form that the service gives, and of no blob.
    const string Wrong = "\"0x8D0000000000000\"";
    const string Garbage = "\"garbage\"";

    readonly Storage storage;
    readonly Cell cell;
    readonly Attempt attempt;
    Attempt source;
    Seen before;
    DateTimeOffset policyUntil = DateTimeOffset.UtcNow.AddHours(1);

    public Trial(Storage storage, Cell cell, string name)
    {
        this.storage = storage;
        this.cell = cell;
        var operation = Catalogue.Of(cell.Operation);
        attempt = new Attempt { Operation = operation, Name = name, Tagged = cell.Sent.ContainsKey("If-Tags") };
        if (operation.Source != null) attempt.SourceName = name + "-source";
    }

    /// Whether the library can send what the cell asks.
    public bool Possible =>
        storage.Operations.ContainsKey(cell.Operation)
        && (storage.Holds || !cell.Held)
        && cell.Sent.Keys.All(header => storage.Sends(cell.Operation, header));

    public async Task Prepare()
    {
        if (attempt.SourceName != null)
        {
            source = attempt.Of(attempt.SourceName, attempt.Operation.Source.Value);
            await storage.Make(source);
        }
        var incremental = cell.Operation == "IncrementalCopyBlob";
        if (incremental)
        {
            attempt.Snapshot = await storage.Snapshot(source);
            if (cell.Blob != "missing")
            {
                // The destination of an incremental copy is one already, of an earlier snapshot.
                await storage.Operations[cell.Operation](attempt);
                await storage.Touch(source);
                attempt.Snapshot = await storage.Snapshot(source);
            }
        }
        else if (cell.Blob != "missing" && cell.Blob != "uncommitted")
        {
            await storage.Make(attempt);
        }
        if (cell.Blob == "uncommitted" || (cell.Blob != "missing" && cell.Operation == "PutBlockList"))
        {
            await storage.Stage(attempt);
            attempt.Staged = true;
        }
        if (cell.Operation == "GetPageRangesDiff" && cell.Blob != "missing")
        {
            attempt.Snapshot = await storage.Snapshot(attempt);
        }
        await LeaseOrHold();
    }

    async Task LeaseOrHold()
    {
        switch (cell.Blob)
        {
            case "there":
            case "missing":
            case "uncommitted":
                break;
            case "leased":
                await storage.Acquire(attempt, Storage.A, -1);
                break;
            case "fixed":
                await storage.Acquire(attempt, Storage.A, 60);
                break;
            case "breaking":
                await storage.Acquire(attempt, Storage.A, -1);
                await storage.Break(attempt, 60);
                break;
            case "broken":
                await storage.Acquire(attempt, Storage.A, -1);
                await storage.Break(attempt, 0);
                break;
            case "held":
                await storage.Hold(attempt);
                break;
            case "policy":
            case "locked-policy":
                policyUntil = DateTimeOffset.UtcNow.AddHours(1);
                await storage.Protect(attempt, policyUntil, false);
                // A policy is locked in a second step.
                if (cell.Blob == "locked-policy") await storage.Protect(attempt, policyUntil, true);
                break;
            case "expired-policy":
                await storage.Protect(attempt, DateTimeOffset.UtcNow.AddSeconds(15), false);
                break;
            case "expired":
            case "expired-written":
                await storage.Acquire(attempt, Storage.A, 15);
                break;
            default:
                throw new FormatException("no state " + cell.Blob);
        }
    }

    /// Null when all is as the table says.
    public async Task<string> Run()
    {
        if (cell.Blob == "expired-written") await storage.Touch(attempt);
        before = await storage.Look(attempt);
        await Fill();
        var wire = Wire.Begin();
        Exception raised = null;
        try
        {
            await storage.Operations[cell.Operation](attempt);
        }
        catch (Exception error)
        {
            raised = error;
        }
        var got = wire.Last;
        Wire.Begin();
        if (got == null) return "no request was sent: " + raised;
        if (Array.TrueForAll(cell.Answers, answer => !answer.Is(got)))
        {
            return "expected " + string.Join<Answer>(" or ", cell.Answers) + ", got " + got;
        }
        return Reported(got, raised) ?? await Left(got);
    }

    /// The client must have understood the answer as what it is.
    string Reported(Answer got, Exception raised)
    {
        if (got.Succeeds) return raised == null ? null : "answered " + got + ", but the client says: " + raised;
        if (raised == null) return got.Status == 304 ? null : "answered " + got + ", but the client saw no failure";
        var status = storage.StatusOf(raised);
        return status == got.Status ? null : "answered " + got + ", but the client says: " + raised;
    }

    async Task<string> Left(Answer got)
    {
        var after = await storage.Look(attempt);
        if (!got.Succeeds)
        {
            if (after?.ETag != before?.ETag) return "a failure changed the ETag from " + before?.ETag + " to " + after?.ETag;
            if (after?.LeaseState != before?.LeaseState) return "a failure left the lease " + after?.LeaseState;
            return null;
        }
        var lease = after == null ? "gone" : after.LeaseState;
        if (cell.After != null && lease != cell.After) return "after it the lease is " + lease + ", expected " + cell.After;
        // Some seconds may have passed since the lease was taken.
        if (cell.LeaseTime is int told && !(attempt.LeaseTime <= told && attempt.LeaseTime >= Math.Max(0, told - 10)))
        {
            return "the lease has " + attempt.LeaseTime + " seconds left, expected " + told;
        }
        switch (attempt.Operation.Effect)
        {
            case Effect.Deletes:
                return after == null ? null : "it is still there";
            case Effect.Moves:
                return after != null && after.ETag != before?.ETag ? null : "the ETag is not a new one";
            default:
                return after?.ETag == before?.ETag ? null : "the ETag changed, which this operation does not do";
        }
    }

    async Task Fill()
    {
        var seenSource = source == null ? null : await storage.Look(source);
        foreach (var one in cell.Sent)
        {
            if (one.Key.StartsWith("source-")) Set(attempt.Source, one.Key.Substring(7), one.Value, seenSource);
            else Set(attempt.Target, one.Key, one.Value, before);
        }
    }

    void Set(Conditions conditions, string name, string value, Seen seen)
    {
        switch (name)
        {
            case "If-Match":
                conditions.IfMatch = Tag(value, seen);
                break;
            case "If-None-Match":
                conditions.IfNoneMatch = Tag(value, seen);
                break;
            case "If-Modified-Since":
                conditions.IfModifiedSince = Date(value, seen);
                break;
            case "If-Unmodified-Since":
                conditions.IfUnmodifiedSince = Date(value, seen);
                break;
            case "If-Tags":
                conditions.Tags = value == "right" ? "\"colour\" = 'blue'" : "\"colour\" = 'red'";
                break;
            case "lease":
                conditions.Lease = Id(value);
                break;
            case "proposed":
                attempt.Proposed = Id(value);
                break;
            case "period":
                attempt.Period = TimeSpan.FromSeconds(int.Parse(value));
                break;
            case "hold":
                attempt.Legal = value == "on";
                break;
            case "until":
                attempt.PolicyUntil = policyUntil.AddMinutes(value == "earlier" ? -10 : value == "later" ? 10 : 0);
                break;
            case "mode":
                attempt.PolicyLocked = value == "locked";
                break;
            case "sequence-le":
                conditions.SequenceAtMost = long.Parse(value);
                break;
            case "sequence-lt":
                conditions.SequenceBelow = long.Parse(value);
                break;
            case "sequence-eq":
                conditions.SequenceIs = long.Parse(value);
                break;
            case "append-position":
                conditions.AppendPosition = long.Parse(value);
                break;
            case "max-size":
                conditions.MaxSize = long.Parse(value);
                break;
            default:
                throw new FormatException("no header " + name);
        }
    }

    static string Tag(string value, Seen seen)
    {
        switch (value)
        {
            case "right": return seen.ETag;
            case "wrong": return Wrong;
            case "garbage": return Garbage;
            case "*": return "*";
            default: throw new FormatException("no ETag " + value);
        }
    }

    static DateTimeOffset Date(string value, Seen seen)
    {
        var moment = seen?.LastModified ?? DateTimeOffset.UtcNow;
        switch (value)
        {
            case "before": return moment.AddHours(-1);
            case "equal": return moment;
            case "after": return moment.AddHours(1);
            default: throw new FormatException("no date " + value);
        }
    }

    static string Id(string value)
    {
        switch (value)
        {
            case "A": return Storage.A;
            case "B": return Storage.B;
            case "C": return Storage.C;
            default: throw new FormatException("no lease id " + value);
        }
    }
}
