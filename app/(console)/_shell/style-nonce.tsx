"use client";
import { setNonce } from "get-nonce";

// Radix puts a style element into the page while a dialog is open. The browser hides the attribute
// from style sheets and selectors, and shows it to scripts that run already.
if (typeof document !== "undefined") {
  const script = document.querySelector<HTMLScriptElement>("script[nonce]");
  if (script?.nonce) setNonce(script.nonce);
}

/** Takes the page's nonce for the styles that libraries add. */
export function StyleNonce() {
  return null;
}
