// One line of a table: what is asked of which blob, and what the service answers.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

/// One acceptable answer: a status and, for a failure, its error code.
sealed class Answer
{
    public readonly int Status;
    public readonly string Code;

    public Answer(int status, string code)
    {
        Status = status;
        Code = code;
    }

    public static Answer Read(string text)
    {
        var words = text.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
        return new Answer(int.Parse(words[0]), words.Length > 1 ? words[1] : null);
    }

    public bool Is(Answer other) => Status == other.Status && Code == other.Code;

    public bool Succeeds => Status < 300;

    public override string ToString() => Code == null ? Status.ToString() : Status + " " + Code;
}

sealed class Cell
{
    public string Place;
    public string Operation;
    /// How the blob is found: there, missing, uncommitted, the state of its lease, or what holds it.
    public string Blob;
    /// Names and values of what is sent along, such as If-Match=right.
    public Dictionary<string, string> Sent;
    public Answer[] Answers;
    /// The state of the lease after a success, `gone`, or null where the table does not say.
    public string After;
    /// The seconds that a success tells to be left of the lease, where the table does say.
    public int? LeaseTime;

    public bool Expired => Blob.StartsWith("expired");

    /// Whether an immutability policy or a legal hold is on the blob.
    public bool Held => Blob == "held" || Blob.Contains("policy");

    /// Tables whose cells need an account with features say so by their name.
    public bool NeedsFeatures => Place.Contains("with-features");

    public override string ToString()
    {
        var sent = string.Join(" ", Sent.Select(one => one.Key + "=" + one.Value));
        return Place + ": " + Operation + ", " + Blob + ", " + (sent == "" ? "nothing sent" : sent);
    }

    /// Reads every table of a directory: `operation | blob | sent | answer [or answer] [| after [seconds]]`.
    public static List<Cell> ReadAll(string directory)
    {
        var cells = new List<Cell>();
        foreach (var path in Directory.GetFiles(directory, "*.txt").OrderBy(path => path, StringComparer.Ordinal))
        {
            var number = 0;
            foreach (var line in File.ReadLines(path))
            {
                number++;
                if (line.Trim() == "" || line.StartsWith("#")) continue;
                var place = Path.GetFileName(path) + ":" + number;
                try
                {
                    cells.Add(Read(place, line));
                }
                catch (Exception error)
                {
                    throw new FormatException(place + ": " + error.Message + ": " + line);
                }
            }
        }
        return cells;
    }

    static Cell Read(string place, string line)
    {
        var columns = line.Split('|').Select(column => column.Trim()).ToArray();
        if (columns.Length < 4 || columns.Length > 5) throw new FormatException("not four or five columns");
        var sent = columns[2].Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries).Where(word => word != "-");
        var after = columns.Length == 5 ? columns[4].Split(' ') : new[] { "" };
        return new Cell
        {
            Place = place,
            Operation = columns[0],
            Blob = columns[1],
            Sent = sent.Select(word => word.Split(new[] { '=' }, 2)).ToDictionary(pair => pair[0], pair => pair[1]),
            Answers = columns[3].Split(new[] { " or " }, StringSplitOptions.None).Select(Answer.Read).ToArray(),
            After = after[0] == "" ? null : after[0],
            LeaseTime = after.Length > 1 ? int.Parse(after[1]) : (int?)null,
        };
    }
}
