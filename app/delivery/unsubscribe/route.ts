import { askUnsubscribe, unsubscribe } from "@/lib/delivery/pages.ts";
import { currentApp } from "@/lib/platform/current-app.ts";

export const GET = (request: Request) => askUnsubscribe(currentApp(), request);
export const POST = (request: Request) => unsubscribe(currentApp(), request);
