export { refuseUndecodablePath as proxy } from "@/lib/http/refuse-undecodable-path.ts";

/** Only paths with an escape: all others go straight to their route. */
export const config = { matcher: "/api/:path(.*%.*)" };
