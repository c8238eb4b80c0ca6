import { askConfirmation, confirm } from "@/lib/delivery/pages.ts";
import { currentApp } from "@/lib/platform/current-app.ts";

export const GET = (request: Request) => askConfirmation(currentApp(), request);
export const POST = (request: Request) => confirm(currentApp(), request);
