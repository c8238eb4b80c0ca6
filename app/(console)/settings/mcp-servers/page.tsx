export { McpServers as default } from "./mcp-servers.tsx";

export const metadata = { title: "MCP servers" };
