// An official TypeScript client (v1: @modelcontextprotocol/sdk, v2: @modelcontextprotocol/client) that is told of changes and asked.
// The only argument is JSON: {"sdk": "v1"|"v2", "era": "legacy"|"modern", "url", "token"} or {…, "command", "args", "cwd"}, and
// {"uri", "file"}: a resource, and the file behind it, which is edited here. What it saw goes to standard output as one JSON object.
import { appendFile } from "node:fs/promises";

const asked = JSON.parse(process.argv[2]);
const v1 = asked.sdk === "v1";
const PATIENCE = 10_000;

const load = async () => {
  if (!v1) {
    const [{ Client, StreamableHTTPClientTransport }, { StdioClientTransport }] = await Promise.all([
      import("@modelcontextprotocol/client"),
      import("@modelcontextprotocol/client/stdio"),
    ]);
    return { Client, StreamableHTTPClientTransport, StdioClientTransport, names: (method) => method };
  }
  const [{ Client }, { StreamableHTTPClientTransport }, { StdioClientTransport }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/client/stdio.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const schemas = {
    "elicitation/create": types.ElicitRequestSchema,
    "notifications/resources/updated": types.ResourceUpdatedNotificationSchema,
  };
  return { Client, StreamableHTTPClientTransport, StdioClientTransport, names: (method) => schemas[method] };
};

const { Client, StreamableHTTPClientTransport, StdioClientTransport, names } = await load();
const transport = asked.url
  ? new StreamableHTTPClientTransport(new URL(asked.url), { requestInit: { headers: { Authorization: `Bearer ${asked.token}` } } })
  : new StdioClientTransport({ command: asked.command, args: asked.args, cwd: asked.cwd, env: process.env, stderr: "inherit" });
const negotiation = asked.era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new Client({ name: "cmsmcp-tests", version: "1.0.0" }, { capabilities: { elicitation: {} }, ...negotiation });
const errors = [];
client.onerror = (error) => errors.push(String(error));

const questions = [];
client.setRequestHandler(names("elicitation/create"), async (request) => {
  questions.push(request.params.message);
  return { action: "accept", content: { name: "Ada" } };
});
let tell;
const told = new Promise((resolve) => (tell = resolve));
client.setNotificationHandler(names("notifications/resources/updated"), (notification) => tell(notification.params.uri));

const within = (promise) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(() => reject(new Error("nothing came in time")), PATIENCE))]);

await client.connect(transport);
const report = { revision: transport.protocolVersion ?? client.getNegotiatedProtocolVersion?.() ?? null };
report.tools = (await client.listTools()).tools.map((tool) => tool.name);
report.read = (await client.readResource({ uri: asked.uri })).contents[0].text;
report.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
const prompt = await client.getPrompt({ name: "describe_content_type", arguments: { type: "post" } });
report.prompt = prompt.messages[0].content.text;
const reference = { type: "ref/prompt", name: "describe_content_type" };
report.completed = (await client.complete({ ref: reference, argument: { name: "type", value: "po" } })).completion.values;
report.progress = [];
const talked = await client.callTool({ name: "greet_by_name", arguments: {} }, ...(v1 ? [undefined] : []), {
  onprogress: (progress) => report.progress.push(progress.progress),
});
report.greeting = talked.content[0].text;
report.questions = questions;
if (asked.era === "modern") {
  const subscription = await client.listen({ resourceSubscriptions: [asked.uri], toolsListChanged: true });
  report.honored = subscription.honoredFilter;
  await appendFile(asked.file, "\nOne line more.\n");
  report.told = await within(told);
  await subscription.close();
} else {
  await client.subscribeResource({ uri: asked.uri });
  await appendFile(asked.file, "\nOne line more.\n");
  report.told = await within(told);
  await client.unsubscribeResource({ uri: asked.uri });
}
report.after = (await client.readResource({ uri: asked.uri })).contents[0].text;
await client.close();
console.log(JSON.stringify({ ...report, errors }));
