// The official TypeScript client against one server; what it saw goes to standard output as one JSON object.
// The only argument is JSON: {"url", "token"} for HTTP, {"command", "args", "cwd"} for stdio.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const asked = JSON.parse(process.argv[2]);
const transport = asked.url
  ? new StreamableHTTPClientTransport(new URL(asked.url), { requestInit: { headers: { Authorization: `Bearer ${asked.token}` } } })
  : new StdioClientTransport({ command: asked.command, args: asked.args, cwd: asked.cwd, env: process.env, stderr: "inherit" });

const client = new Client({ name: "cmsmcp-tests", version: "1.0.0" }, { capabilities: {} });
const errors = [];
client.onerror = (error) => errors.push(String(error));

const refused = async (promise) => {
  try {
    await promise;
    return null;
  } catch (error) {
    return { code: error.code, message: error.message };
  }
};

await client.connect(transport);
const listed = await client.listTools();
const found = await client.callTool({ name: "search_content", arguments: { query: "post" } });
const bad = await client.callTool({ name: "search_content", arguments: { qeury: "post" } });
const calls = Array.from({ length: 10 }, (_, index) => client.callTool({ name: "list_documents", arguments: { limit: index + 1 } }));
const report = {
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
  protocolVersion: transport.protocolVersion ?? null,
  sessionId: transport.sessionId ?? null,
  ping: await client.ping(),
  tools: listed.tools.map((tool) => tool.name),
  found: found.structuredContent,
  foundText: found.content[0].text,
  bad,
  unknownTool: await refused(client.callTool({ name: "nope", arguments: {} })),
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate),
  types: (await client.readResource({ uri: "plank://content-types" })).contents[0],
  missing: await refused(client.readResource({ uri: "plank://content-types/nope/schema" })),
  sizes: (await Promise.all(calls)).map((result) => result.structuredContent.items.length),
};
if (asked.url) await transport.terminateSession();
await client.close();
console.log(JSON.stringify({ ...report, errors }));
