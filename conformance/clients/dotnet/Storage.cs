// What the tables need of a client library. V12.cs and V11.cs each give it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

enum Kind { Block, Append, Page, Container, File, Directory, Share }

/// What a success does to the ETag of the blob.
enum Effect { Moves, Keeps, Deletes }

/// An operation as the tables name it.
sealed class Operation
{
    public readonly string Name;
    public readonly Kind Kind;
    public readonly Effect Effect;
    /// The kind of the blob that a copy reads.
    public readonly Kind? Source;

    public Operation(string name, Kind kind, Effect effect, Kind? source = null)
    {
        Name = name;
        Kind = kind;
        Effect = effect;
        Source = source;
    }
}

/// Header values, of the blob itself or of the source of a copy; null is not sent.
sealed class Conditions
{
    public string IfMatch, IfNoneMatch, Tags, Lease;
    public DateTimeOffset? IfModifiedSince, IfUnmodifiedSince;
    public long? SequenceAtMost, SequenceBelow, SequenceIs, AppendPosition, MaxSize;
}

/// One request of a cell.
sealed class Attempt
{
    public Operation Operation;
    /// The name of the blob, or of the container.
    public string Name;
    public Conditions Target = new Conditions();
    public Conditions Source = new Conditions();
    public string SourceName;
    public string Proposed;
    public TimeSpan? Period;
    /// The policy that Set Blob Immutability Policy is to set, and the hold that Set Blob Legal Hold is to put on or lift.
    public DateTimeOffset PolicyUntil;
    public bool PolicyLocked, Legal = true;
    /// The time that Break Lease answered.
    public int? LeaseTime;
    /// Of the blob for a difference of pages, of the source for an incremental copy.
    public string Snapshot;
    /// Whether a block waits to be committed.
    public bool Staged;
    /// Tags are set only where a cell asks about them.
    public bool Tagged;

    public Attempt Of(string name, Kind kind) =>
        new Attempt { Name = name, Operation = new Operation("", kind, Effect.Keeps), Tagged = Tagged };
}

/// What a read shows of a blob or container.
sealed class Seen
{
    public string ETag, LeaseState;
    public DateTimeOffset LastModified;
}

/// The last answer that came over the wire in the running attempt, whatever the client makes of it.
sealed class Wire
{
    static readonly AsyncLocal<Wire> Running = new AsyncLocal<Wire>();

    public Answer Last;

    public static Wire Begin() => Running.Value = new Wire();

    public static void Note(int status, string code)
    {
        if (Running.Value != null) Running.Value.Last = new Answer(status, code);
    }
}

abstract class Storage
{
    public const string A = "aaaaaaaa-0000-4000-8000-000000000001";
    public const string B = "bbbbbbbb-0000-4000-8000-000000000002";
    public const string C = "cccccccc-0000-4000-8000-000000000003";
    public static readonly string Block = Convert.ToBase64String(new byte[] { 1, 2, 3 });
    public const int Pages = 4096;
    public const long Sequence = 5;
    public static readonly byte[] Text = { (byte)'a', (byte)',', (byte)'b', (byte)'\n' };

    /// By the names of the tables; an operation that the library does not have is not here.
    public readonly Dictionary<string, Func<Attempt, Task>> Operations = new Dictionary<string, Func<Attempt, Task>>();

    public abstract string Name { get; }
    /// Whether the library has a place for a header of an operation that it has.
    public abstract bool Sends(string operation, string header);
    public abstract Task Start();
    /// Makes the blob or container as every cell finds it: four bytes, or four KiB of pages at sequence number five.
    public abstract Task Make(Attempt attempt);
    public abstract Task Stage(Attempt attempt);
    public abstract Task<string> Snapshot(Attempt attempt);
    /// Null where nothing is there.
    public abstract Task<Seen> Look(Attempt attempt);
    public abstract Task Acquire(Attempt attempt, string id, int seconds);
    public abstract Task Break(Attempt attempt, int seconds);
    public abstract Task Touch(Attempt attempt);
    /// Whether the library knows immutability policies and legal holds.
    public virtual bool Holds => false;
    public virtual Task Protect(Attempt attempt, DateTimeOffset until, bool locked) => throw new NotSupportedException();
    public virtual Task Hold(Attempt attempt) => throw new NotSupportedException();
    /// The status that the client reports for an exception of its own, or null when the exception is another.
    public abstract int? StatusOf(Exception error);
}
