export { serveReference as GET } from "@/lib/openapi/serve-reference.ts";
