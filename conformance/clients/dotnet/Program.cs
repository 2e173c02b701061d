// Usage: CONNECTION_STRING CLOCK_URL DIRECTORY_OF_TABLES. Tries every cell of the tables, then the tour of the library.
// LAZULI_TEST_ONLY is a part of the cells' text and chooses among them. With LAZULI_TEST_FEATURES the server has all features: then
// only the cells and stops are tried that need them, and without it the others.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    const int AtOnce = 8;
    static readonly ConcurrentQueue<string> Faults = new ConcurrentQueue<string>();
    static int passed, skipped;

    static int Main(string[] words)
    {
        var storage = Library.Make(words[0]);
        Work(storage, words).GetAwaiter().GetResult();
        foreach (var fault in Faults.OrderBy(fault => fault, StringComparer.Ordinal)) Console.WriteLine(fault);
        Console.WriteLine(storage.Name + ": " + passed + " passed, " + Faults.Count + " failed, " + skipped + " skipped");
        var chosen = Environment.GetEnvironmentVariable("LAZULI_TEST_ONLY") != null;
        return Faults.Count == 0 && (passed > 0 || chosen) ? 0 : 1;
    }

    static async Task Work(Storage storage, string[] words)
    {
        var watch = Stopwatch.StartNew();
        var only = Environment.GetEnvironmentVariable("LAZULI_TEST_ONLY") ?? "";
        await storage.Start();
        var cells = Cell.ReadAll(words[2]);
        foreach (var name in Catalogue.Names.Except(cells.Select(cell => cell.Operation))) Faults.Enqueue("no cell tries " + name);
        var unknown = storage.Operations.Keys.Except(Catalogue.Names).ToList();
        if (unknown.Count > 0) throw new InvalidOperationException("not in the catalogue: " + string.Join(", ", unknown));

        var trials = new List<(Cell, Trial)>();
        var features = Environment.GetEnvironmentVariable("LAZULI_TEST_FEATURES") != null;
        foreach (var cell in cells.Where(cell => cell.NeedsFeatures == features && cell.ToString().Contains(only)))
        {
            var trial = new Trial(storage, cell, "cell" + trials.Count + "-" + Guid.NewGuid().ToString("N"));
            if (trial.Possible) trials.Add((cell, trial));
            else skipped++;
        }
        await Each(trials.Where(one => !one.Item1.Expired), async one =>
        {
            await one.Item2.Prepare();
            return await one.Item2.Run();
        });
        // All leases that are to expire are taken, the clock is moved once, and only then are their cells tried.
        var expired = trials.Where(one => one.Item1.Expired).ToList();
        var ready = new ConcurrentQueue<(Cell, Trial)>();
        await Each(expired, async one =>
        {
            await one.Item2.Prepare();
            ready.Enqueue(one);
            return null;
        }, false);
        await Advance(words[1], 20);
        await Each(ready, one => one.Item2.Run());
        Console.WriteLine(storage.Name + ": the tables took " + watch.Elapsed.TotalSeconds.ToString("0.0") + " s");
        var stops = Library.Tour(words[0]).Where(stop => stop.Item1.Contains("with features") == features);
        foreach (var stop in stops.Where(stop => stop.Item1.Contains(only))) await Visit(stop.Item1, stop.Item2);
        Console.WriteLine(storage.Name + ": all took " + watch.Elapsed.TotalSeconds.ToString("0.0") + " s");
    }

    static async Task Each(IEnumerable<(Cell, Trial)> trials, Func<(Cell, Trial), Task<string>> work, bool counts = true)
    {
        using (var turn = new SemaphoreSlim(AtOnce))
        {
            await Task.WhenAll(trials.Select(async one =>
            {
                await turn.WaitAsync();
                try
                {
                    var fault = await work(one);
                    if (fault != null) Faults.Enqueue(one.Item1 + ": " + fault);
                    else if (counts) Interlocked.Increment(ref passed);
                }
                catch (Exception error)
                {
                    Faults.Enqueue(one.Item1 + ": could not be tried: " + error);
                }
                finally
                {
                    turn.Release();
                }
            }).ToList());
        }
    }

    static async Task Visit(string name, Func<Task> work)
    {
        try
        {
            await work();
            passed++;
        }
        catch (Exception error)
        {
            Faults.Enqueue("tour: " + name + ": " + error);
        }
    }

    static async Task Advance(string clock, int seconds)
    {
        using (var http = new HttpClient())
        {
            var answer = await http.PostAsync(clock, new StringContent("{\"advance_ms\": " + seconds * 1000 + "}"));
            answer.EnsureSuccessStatusCode();
        }
    }
}

static class Check
{
    public static void Same<T>(T expected, T got, string what)
    {
        if (!EqualityComparer<T>.Default.Equals(expected, got))
        {
            throw new InvalidOperationException(what + ": expected " + expected + ", got " + got);
        }
    }

    public static void Bytes(byte[] expected, byte[] got, string what)
    {
        if (!expected.SequenceEqual(got)) throw new InvalidOperationException(what + ": the bytes differ");
    }

    public static byte[] Noise(int length)
    {
        var bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }
}
