// What sees the answers of the clients that are built on Azure.Core.
using Azure.Core;
using Azure.Core.Pipeline;

/// Sees every answer before the client does.
sealed class Tap : HttpPipelineSynchronousPolicy
{
    public override void OnReceivedResponse(HttpMessage message)
    {
        message.Response.Headers.TryGetValue("x-ms-error-code", out var code);
        Wire.Note(message.Response.Status, code);
    }
}
