// The Table service as its official JavaScript client sees it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { TableClient, TableServiceClient, TableTransaction, generateTableSas, odata } from "@azure/data-tables";
import { AzureNamedKeyCredential, AzureSASCredential } from "@azure/data-tables";

const { LAZULI_TEST_CONNECTION_STRING: connectionString } = process.env;
if (!connectionString) throw new Error("no server: set LAZULI_TEST_CONNECTION_STRING");

// A retry would hide what the server answered first.
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const service = TableServiceClient.fromConnectionString(connectionString, options);
const fields = Object.fromEntries(
  connectionString.split(";").filter(Boolean).map((field) => [field.slice(0, field.indexOf("=")), field.slice(field.indexOf("=") + 1)]),
);

async function newTable(t) {
  const name = "t" + randomUUID().replaceAll("-", "");
  await service.createTable(name);
  t.after(() => service.deleteTable(name));
  return TableClient.fromConnectionString(connectionString, name, options);
}

async function refused(status, code, asked) {
  await assert.rejects(asked, (error) => {
    const found = error.details?.odataError?.code ?? error.code;
    assert.deepEqual([error.statusCode, found], [status, code], error.message);
    return true;
  });
}

const entity = (rowKey, properties) => ({ partitionKey: "p", rowKey, ...properties });

const collect = async (pages, pick = (item) => item) => {
  const found = [];
  for await (const item of pages) found.push(pick(item));
  return found;
};

test("every type comes back", async (t) => {
  const table = await newTable(t);
  const sent = entity("r", {
    text: "Grüße \u{1F600} \"'",
    flag: true,
    small: 42,
    real: 3.25,
    whole: { value: "5", type: "Double" },
    large: 9223372036854775807n,
    when: new Date("2021-03-23T18:28:39.049Z"),
    id: { value: "c9da6455-213d-42c9-9a79-3e9149a57833", type: "Guid" },
    bytes: new Uint8Array([0, 1, 254, 255]),
  });
  await table.createEntity(sent);
  const found = await table.getEntity("p", "r");
  assert.equal(found.text, sent.text);
  assert.deepEqual([found.flag, found.small, found.real, found.large], [true, 42, 3.25, 9223372036854775807n]);
  assert.equal(found.when.getTime(), sent.when.getTime());
  assert.equal(found.id.value, sent.id.value);
  assert.deepEqual([...found.bytes], [0, 1, 254, 255]);
  assert.match(found.etag, /^W\/"datetime'/);
});

test("insert once, replace and merge under an ETag, upsert", async (t) => {
  const table = await newTable(t);
  const { etag } = await table.createEntity(entity("r", { a: 1, b: 2 }));
  await refused(409, "EntityAlreadyExists", () => table.createEntity(entity("r")));
  const merged = await table.updateEntity(entity("r", { a: 3 }), "Merge", { etag });
  await refused(412, "UpdateConditionNotSatisfied", () => table.updateEntity(entity("r", { a: 4 }), "Replace", { etag }));
  await refused(412, "UpdateConditionNotSatisfied", () => table.deleteEntity("p", "r", { etag }));
  assert.equal((await table.getEntity("p", "r")).b, 2);
  await table.updateEntity(entity("r", { c: 5 }), "Replace", { etag: merged.etag });
  const replaced = await table.getEntity("p", "r");
  assert.deepEqual([replaced.a, replaced.b, replaced.c], [undefined, undefined, 5]);
  await refused(404, "ResourceNotFound", () => table.updateEntity(entity("absent"), "Merge"));
  await table.upsertEntity(entity("absent", { n: 1 }), "Merge");
  await table.upsertEntity(entity("absent", { m: 2 }), "Replace");
  assert.equal((await table.getEntity("p", "absent")).n, undefined);
  await table.deleteEntity("p", "r");
  await refused(404, "ResourceNotFound", () => table.getEntity("p", "r"));
});

test("keys of all kinds", async (t) => {
  const table = await newTable(t);
  for (const key of ["o'clock", "a+b", "ü", "=& ", ":@", "(x)", "100%", "\u{1F600}"]) {
    await table.createEntity({ partitionKey: key, rowKey: key, n: 1 });
    assert.equal((await table.getEntity(key, key)).n, 1, key);
    const filter = odata`PartitionKey eq ${key} and RowKey eq ${key}`;
    assert.equal((await collect(table.listEntities({ queryOptions: { filter } }))).length, 1, key);
    await table.deleteEntity(key, key);
  }
});

test("a group is all or nothing", async (t) => {
  const table = await newTable(t);
  await table.createEntity(entity("taken"));
  const group = new TableTransaction();
  for (let n = 0; n < 20; n++) group.createEntity(entity(String(n).padStart(2, "0"), { n }));
  group.updateEntity(entity("taken", { n: 1 }), "Merge");
  const answer = await table.submitTransaction(group.actions);
  assert.equal(answer.status, 202);
  assert.equal(answer.subResponses.length, 21);
  assert.ok(answer.getResponseForEntity("00").etag);
  await refused(409, "EntityAlreadyExists", () =>
    table.submitTransaction([["create", entity("new")], ["create", entity("taken")]]),
  );
  await refused(404, "ResourceNotFound", () => table.getEntity("p", "new"));
});

test("queries by page, filter and selection", async (t) => {
  const table = await newTable(t);
  const actions = [];
  for (let n = 0; n < 30; n++) actions.push(["create", entity(String(n).padStart(2, "0"), { n, even: n % 2 === 0, big: BigInt(n) })]);
  await table.submitTransaction(actions);
  const count = async (filter) => (await collect(table.listEntities({ queryOptions: { filter } }))).length;
  assert.equal(await count("n lt 10"), 10);
  assert.equal(await count(odata`even eq ${true} and RowKey ge ${"10"}`), 10);
  assert.equal(await count("big eq 7L"), 1);
  assert.equal(await count("not (missing eq 1)"), 30);
  const pages = await collect(table.listEntities().byPage({ maxPageSize: 12 }), (page) => page.length);
  assert.deepEqual(pages, [12, 12, 6]);
  const selected = await collect(table.listEntities({ queryOptions: { filter: "n eq 3", select: ["n"] } }));
  assert.deepEqual([selected[0].n, selected[0].rowKey], [3, undefined]);
  await refused(400, "InvalidInput", () => count("aaa bbb ccc"));
});

test("a token reaches what it names and no more", async (t) => {
  const table = await newTable(t);
  await table.submitTransaction([["create", entity("a")], ["create", entity("b")], ["create", entity("c")]]);
  const key = new AzureNamedKeyCredential(fields.AccountName, fields.AccountKey);
  const opened = (permissions, more = {}) => {
    const token = generateTableSas(table.tableName, key, { permissions, expiresOn: new Date(Date.now() + 3_600_000), ...more });
    return new TableClient(fields.TableEndpoint, table.tableName, new AzureSASCredential(token), options);
  };
  const rows = (client) => collect(client.listEntities(), (item) => item.rowKey);
  assert.deepEqual(await rows(opened({ query: true })), ["a", "b", "c"]);
  const ranged = { startPartitionKey: "p", startRowKey: "b", endPartitionKey: "p", endRowKey: "b" };
  assert.deepEqual(await rows(opened({ query: true }, ranged)), ["b"]);
  await refused(403, "AuthorizationPermissionMismatch", () => opened({ query: true }).createEntity(entity("d")));
  await opened({ add: true }).createEntity(entity("d"));
});

test("policies and properties", async (t) => {
  const table = await newTable(t);
  const policy = { id: "reader", accessPolicy: { permission: "r", start: new Date(0), expiry: new Date(4e12) } };
  await table.setAccessPolicy([policy]);
  assert.deepEqual((await table.getAccessPolicy()).map((found) => found.id), ["reader"]);
  const properties = await service.getProperties();
  assert.equal(properties.logging.version, "1.0");
});
