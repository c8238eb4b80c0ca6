"use client";
import { setNonce } from "get-nonce";

// Radix adds a style element while a dialog is open, which needs the nonce of the page. Browsers hide
// the attribute from selectors, but scripts can read the property.
if (typeof document !== "undefined") {
  const script = document.querySelector<HTMLScriptElement>("script[nonce]");
  if (script?.nonce) setNonce(script.nonce);
}

/** Makes this module, which passes the nonce to the libraries, part of every page. */
export function StyleNonce() {
  return null;
}
