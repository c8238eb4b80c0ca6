import { askConsent, decideConsent } from "@/lib/connectors/adapters/embedded/consent.ts";
import { currentApp } from "@/lib/platform/current-app.ts";

export const GET = (request: Request) => askConsent(currentApp(), request);
export const POST = (request: Request) => decideConsent(currentApp(), request);
