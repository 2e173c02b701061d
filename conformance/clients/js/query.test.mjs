// Query Blob Contents, read with the client's own parser of the answer; the static website of an account.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { newBlob, put, refused } from "./target.mjs";
import { start, without } from "./server.mjs";

async function ask(blob, expression, options = {}) {
  const errors = [];
  const answer = await blob.query(expression, { ...options, onError: (error) => errors.push(error) });
  const parts = [];
  for await (const part of answer.readableStreamBody) parts.push(Buffer.from(part));
  return { text: Buffer.concat(parts).toString(), errors };
}

const CSV = { kind: "csv", columnSeparator: ",", fieldQuote: '"', recordSeparator: "\n", escapeCharacter: "", hasHeaders: true };

test("delimited text", async (t) => {
  const blob = await newBlob(t, 'name,year\nred,2024\n"blue, light",2025\ngreen,2026\n');
  const all = await ask(blob, "SELECT * FROM BlobStorage", { inputTextConfiguration: { ...CSV, hasHeaders: false } });
  assert.equal(all.text, 'name,year\nred,2024\n"blue, light",2025\ngreen,2026\n');
  const some = await ask(blob, "SELECT name FROM BlobStorage WHERE year > 2024", { inputTextConfiguration: CSV });
  assert.equal(some.text, '"blue, light"\ngreen\n');
  const json = await ask(blob, "SELECT name, year FROM BlobStorage LIMIT 1", {
    inputTextConfiguration: CSV, outputTextConfiguration: { kind: "json", recordSeparator: "\n" },
  });
  assert.deepEqual(JSON.parse(json.text), { name: "red", year: "2024" });
  const count = await ask(blob, "SELECT COUNT(*), MAX(CAST(year AS INT)) FROM BlobStorage", { inputTextConfiguration: CSV });
  assert.equal(count.text, "3,2026\n");
});

test("documents", async (t) => {
  const blob = await newBlob(t, '{"a":{"b":1},"c":"x"}\n{"a":{"b":2}}\n');
  const json = { kind: "json", recordSeparator: "\n" };
  const { text } = await ask(blob, "SELECT a.b FROM BlobStorage WHERE a.b = 2", { inputTextConfiguration: json, outputTextConfiguration: json });
  assert.equal(text, '{"b":2}\n');
});

test("a short line is an error that does not end the query", async (t) => {
  const blob = await newBlob(t, "a,b\n1,2\n3\n4,5\n");
  const { text, errors } = await ask(blob, "SELECT b FROM BlobStorage", { inputTextConfiguration: CSV });
  assert.equal(text, "2\n5\n");
  assert.deepEqual(errors.map(({ name, isFatal, position }) => [name, isFatal, position]), [["InvalidColumnOrdinal", false, 8]]);
});

test("what is no query is refused", async (t) => {
  const blob = await newBlob(t, "1\n");
  await refused(400, "ParseError", blob.query("SELECT everything"));
  const { etag } = await blob.getProperties();
  await put(blob, "2\n");
  await refused(412, "ConditionNotMet", blob.query("SELECT * FROM BlobStorage", { conditions: { ifMatch: etag } }));
});

const get = ({ hostname, port }, path, host) =>
  new Promise((resolve, reject) => {
    request({ hostname, port, path, headers: host ? { host } : {} }, async (answer) => {
      const parts = [];
      for await (const part of answer) parts.push(part);
      resolve({ status: answer.statusCode, type: answer.headers["content-type"], text: Buffer.concat(parts).toString() });
    }).on("error", reject).end();
  });

test("a static website", { skip: without }, async (t) => {
  const { service, address } = await start(t, ["--webPort", "0"]);
  const staticWebsite = { enabled: true, indexDocument: "index.html", errorDocument404Path: "lost.html" };
  await service.setProperties({ staticWebsite });
  const told = (await service.getProperties()).staticWebsite;
  assert.deepEqual({ ...told, defaultIndexDocumentPath: undefined }, { ...staticWebsite, defaultIndexDocumentPath: undefined });
  const web = service.getContainerClient("$web");
  const html = { blobHTTPHeaders: { blobContentType: "text/html" } };
  for (const [name, text] of [["index.html", "home"], ["lost.html", "lost"], ["sub/index.html", "sub"]]) {
    await put(web.getBlockBlobClient(name), text, html);
  }
  const account = service.accountName;
  const byPort = (path) => get(address("web"), `/${account}${path}`);
  const byHost = (path) => get(address("blob"), path, `${account}.web.localhost`);
  for (const site of [byPort, byHost]) {
    assert.deepEqual(await site("/"), { status: 200, type: "text/html", text: "home" });
    assert.equal((await site("/sub/")).text, "sub");
    assert.deepEqual(await site("/nowhere"), { status: 404, type: "text/html", text: "lost" });
  }
  await service.setProperties({ staticWebsite: { enabled: false } });
  assert.equal((await byHost("/")).status, 404);
});
