import { useCallback, useRef, useState } from "react";
import { type ApiError, type ApiRequest, type ApiResult, api } from "../_api/request.ts";

export interface Submit<T> {
  readonly send: (
    path: string,
    request: ApiRequest & { readonly method?: "POST" | "PATCH" },
  ) => Promise<ApiResult<T>>;
  readonly busy: boolean;
  /** The error of the last attempt. */
  readonly error: ApiError | null;
  readonly clearError: () => void;
}

/**
 * Submits a form to the API. A POST carries an `Idempotency-Key`, which stays the same for the same
 * request until there is a final response, so that retrying after a lost connection has no second effect.
 */
export function useSubmit<T>(): Submit<T> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const pending = useRef<{ readonly request: string; readonly key: string } | null>(null);

  const send: Submit<T>["send"] = useCallback(async (path, { method = "POST", ...rest }) => {
    const request = JSON.stringify([method, path, rest.body]);
    const key = pending.current?.request === request ? pending.current.key : crypto.randomUUID();
    pending.current = { request, key };
    const headers = { ...rest.headers, ...(method === "POST" && { "idempotency-key": key }) };
    setBusy(true);
    const result = await api<T>(path, { ...rest, method, headers });
    setBusy(false);
    setError(result.ok ? null : result.error);
    if (result.ok || isRefusal(result.error)) pending.current = null;
    return result;
  }, []);
  const clearError = useCallback(() => setError(null), []);
  return { send, busy, error, clearError };
}

/** A refusal is final. After any other failure, the request may still be running or can be retried. */
const isRefusal = ({ status }: ApiError): boolean =>
  status >= 400 && status < 500 && status !== 409 && status !== 429;
