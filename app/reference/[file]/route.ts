export { serveReference as GET } from "@/lib/reference/serve-reference.ts";
