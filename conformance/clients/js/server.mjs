// A server of one's own, for what needs flags: free ports, nothing kept, gone after the test.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { BlobServiceClient } from "@azure/storage-blob";
import { generate } from "selfsigned";
import { moveClock } from "./target.mjs";

const { LAZULI_TEST_BINARY: binary, LAZULI_TEST_CONNECTION_STRING: shared } = process.env;
const field = (name) => new RegExp(`${name}=([^;]+)`).exec(shared)[1];

/** Why tests that need one are skipped, or false. */
export const without = binary ? false : "LAZULI_TEST_BINARY is not set";

/** `{ service, address, advance }`; with `tls` it has a certificate that the client trusts. */
export async function start(test, flags = [], { tls = false } = {}) {
  const place = await mkdtemp(join(tmpdir(), "lazuli-js-"));
  const certificate = tls ? await writeCertificate(place) : undefined;
  const security = tls ? ["--cert", join(place, "cert.pem"), "--key", join(place, "key.pem")] : [];
  const ports = ["blob", "queue", "table", "file", "dfs", "smb", "admin"].flatMap((name) => [`--${name}Port`, "0"]);
  const words = [...ports, ...security, "--inMemoryPersistence", "--test-clock", "--silent", ...flags];
  const child = spawn(binary, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  test.after(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(place, { recursive: true });
  });
  const addresses = await listeners(child);
  const account = field("AccountName");
  const scheme = tls ? "https" : "http";
  const blob = `${scheme}://${new URL(addresses.blob).host}/${account}`;
  const text = `DefaultEndpointsProtocol=${scheme};AccountName=${account};AccountKey=${field("AccountKey")};BlobEndpoint=${blob};`;
  const options = { retryOptions: { maxTries: 1 }, tlsOptions: { ca: certificate } };
  return {
    service: BlobServiceClient.fromConnectionString(text, options),
    address: (listener) => new URL(addresses[listener]),
    advance: (seconds) => moveClock(`${addresses.admin}/clock`, seconds),
  };
}

async function listeners(child) {
  const addresses = {};
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "lazuli: ready") return addresses;
    const [, name, address] = /^lazuli: (\w+) listening on (\S+)/.exec(line) ?? [];
    if (name) addresses[name] = address;
  }
  throw new Error("the server did not start; what it said is above");
}

async function writeCertificate(place) {
  const names = { name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] };
  const made = await generate([{ name: "commonName", value: "127.0.0.1" }], { keySize: 2048, algorithm: "sha256", extensions: [names] });
  await writeFile(join(place, "cert.pem"), made.cert);
  await writeFile(join(place, "key.pem"), made.private);
  return made.cert;
}
