import { headers } from "next/headers";
import { cache } from "react";
import { GET } from "@/app/api/shares/[token]/route.ts";
import { callEndpoint } from "@/lib/http/call-endpoint.ts";
import { serviceOrigin } from "@/lib/platform/service-origin.ts";
import { readShareContract } from "@/lib/sessions/shares/contract.ts";
import type { Answer } from "../_api/request.ts";

export type SharedPage = Answer<typeof readShareContract>;

type Found =
  | { readonly status: "found"; readonly page: SharedPage }
  | { readonly status: "missing" }
  | { readonly status: "limited" };

/**
 * Reads the beginning of a shared chat by its endpoint, with the visitor's address and its rate limit,
 * once for each visit.
 */
export const readSharedChat = cache(async (token: string): Promise<Found> => {
  const visit = new Request(serviceOrigin(), { headers: new Headers(await headers()) });
  const response = await callEndpoint(readShareContract, GET, { token }, visit);
  if (response.ok) return { status: "found", page: (await response.json()) as SharedPage };
  if (response.status === 404) return { status: "missing" };
  if (response.status === 429) return { status: "limited" };
  throw new Error(`The share could not be read: ${response.status}`);
});

export const titleOfShare = ({ title }: SharedPage["share"]): string => title || "Shared chat";
