"use client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { createContext, type ReactNode, useContext, useState } from "react";
import type { ApiError } from "../_api/request.ts";
import type { Theme } from "./theme.ts";

// Radix adds a style element while a dialog is open, which needs the nonce of the page. Browsers hide
// the attribute from selectors, but scripts can read the property.
if (typeof document !== "undefined") {
  const script = document.querySelector<HTMLScriptElement>("script[nonce]");
  if (script?.nonce) setNonce(script.nonce);
}

/** State that the server knew when it rendered the page. */
export interface Frame {
  readonly theme: Theme;
  /** Whether this browser was signed in before; decides the layout until the session is loaded. */
  readonly wasSignedIn: boolean;
  /** True in development, where one click signs in as the seeded account. */
  readonly developerSignIn: boolean;
  /** True in development while no mail is sent: `/dev/mail` shows what would be. */
  readonly developerMail: boolean;
  /** False while the embedded rules answer in chats instead of an AI. */
  readonly hasAiModel: boolean;
  /** False while a renderer of this machine draws images and videos instead of a model. */
  readonly hasMediaModel: boolean;
  /** The other origin that may serve generated media; null if there is none. */
  readonly mediaOrigin: string | null;
}

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: ApiError;
  }
}

/** A failed read is shown at once, with a button to retry. */
const queries = { retry: false, networkMode: "always", refetchOnReconnect: true } as const;

const FrameContext = createContext<Frame | null>(null);

type FrameProviderProps = Readonly<{ frame: Frame; children: ReactNode }>;

export function FrameProvider({ frame, children }: FrameProviderProps) {
  // A server renders the pages of many people: each has a cache.
  const [client] = useState(() => new QueryClient({ defaultOptions: { queries } }));
  return (
    <FrameContext value={frame}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </FrameContext>
  );
}

/** The layout provides it to every page. */
export const useFrame = (): Frame => useContext(FrameContext) as Frame;
