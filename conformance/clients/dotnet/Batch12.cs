// A batch in the very form in which the batch client of Azure.Storage.Blobs sends it (recorded), by the pipeline of that library. Its
// assembly, Azure.Storage.Blobs.Batch, is in no package that can be had without NuGet.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using Azure.Core;
using Azure.Core.Pipeline;
using Azure.Storage.Blobs;

sealed class Batch12
{
    readonly Uri service;
    readonly string boundary = "batch_" + Guid.NewGuid();
    readonly HttpPipeline pipeline = HttpPipelineBuilder.Build(new BlobClientOptions());

    /// The address of the service with a signature, which each part has too.
    public Batch12(Uri service)
    {
        this.service = service;
    }

    public string CoolTier(string path, int id) => Part("PUT " + path + service.Query + "&comp=tier", id, "x-ms-access-tier: Cool\r\n");

    public string Deletion(string path, int id) => Part("DELETE " + path + service.Query, id, "");

    string Part(string request, int id, string headers) =>
        "--" + boundary + "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: " + id + "\r\n\r\n"
        + request + " HTTP/1.1\r\nAccept: application/xml\r\n" + headers + "Content-Length: 0\r\n\r\n";

    /// The statuses of the parts, in their order.
    public async Task<string> Send(IEnumerable<string> parts)
    {
        using (var message = pipeline.CreateMessage())
        {
            message.Request.Method = RequestMethod.Post;
            message.Request.Uri.Reset(new Uri(service + "&comp=batch"));
            message.Request.Headers.Add("x-ms-version", "2021-06-08");
            message.Request.Headers.Add("Content-Type", "multipart/mixed; boundary=" + boundary);
            var body = string.Concat(parts) + "--" + boundary + "--\r\n";
            message.Request.Content = RequestContent.Create(Encoding.UTF8.GetBytes(body));
            await pipeline.SendAsync(message, CancellationToken.None);
            Check.Same(202, message.Response.Status, "the answer of the batch");
            var text = new StreamReader(message.Response.ContentStream).ReadToEnd();
            return string.Join(" ", Regex.Matches(text, "HTTP/1.1 ([0-9]+)").Cast<Match>().Select(found => found.Groups[1].Value));
        }
    }
}
