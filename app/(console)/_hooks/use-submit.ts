import { useCallback, useRef, useState } from "react";
import { type ApiError, type ApiRequest, type ApiResult, api } from "./api.ts";

export interface Submit<T> {
  readonly send: (
    path: string,
    request: ApiRequest & { readonly method?: "POST" | "PATCH" },
  ) => Promise<ApiResult<T>>;
  readonly busy: boolean;
  /** Of the last attempt. */
  readonly error: ApiError | null;
  readonly clearError: () => void;
}

/**
 * A form's way to the API. A POST carries an `Idempotency-Key` that stays for the same request until
 * there is an answer to it, so that trying again after a lost connection makes nothing twice.
 */
export function useSubmit<T>(): Submit<T> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const open = useRef<{ readonly request: string; readonly key: string } | null>(null);

  const send: Submit<T>["send"] = useCallback(async (path, { method = "POST", ...rest }) => {
    const request = JSON.stringify([method, path, rest.body]);
    const key = open.current?.request === request ? open.current.key : crypto.randomUUID();
    open.current = { request, key };
    const headers = { ...rest.headers, ...(method === "POST" && { "idempotency-key": key }) };
    setBusy(true);
    const result = await api<T>(path, { ...rest, method, headers });
    setBusy(false);
    setError(result.ok ? null : result.error);
    if (result.ok || isRefusal(result.error)) open.current = null;
    return result;
  }, []);
  const clearError = useCallback(() => setError(null), []);
  return { send, busy, error, clearError };
}

/** Said once and for all; after any other failure the request may be under way, or worth repeating. */
const isRefusal = ({ status }: ApiError): boolean =>
  status >= 400 && status < 500 && status !== 409 && status !== 429;
