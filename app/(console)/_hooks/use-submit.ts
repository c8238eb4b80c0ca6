import { useMutation } from "@tanstack/react-query";
import { useCallback, useRef } from "react";
import { type ApiError, type ApiRequest, type ApiResult, api } from "../_api/request.ts";

export type Submit = ReturnType<typeof useSubmit>;

/**
 * Sends a change, by POST unless the request says otherwise. A POST carries an `Idempotency-Key`
 * that stays the same for the same request until there is a final response. Retrying after a lost
 * connection therefore has no second effect.
 */
export function useSubmit() {
  const pending = useRef<{ readonly request: string; readonly key: string } | null>(null);
  const { mutateAsync, isPending, error, reset } = useMutation({
    networkMode: "always",
    mutationFn: async ([path, { method = "POST", ...rest }]: readonly [string, ApiRequest]) => {
      const request = JSON.stringify([method, path, rest.body]);
      const key = pending.current?.request === request ? pending.current.key : crypto.randomUUID();
      pending.current = { request, key };
      const headers = { ...rest.headers, ...(method === "POST" && { "idempotency-key": key }) };
      const result = await api<never>(path, { ...rest, method, headers });
      if (result.ok || isRefusal(result.error)) pending.current = null;
      if (!result.ok) throw result.error;
      return result;
    },
  });
  const send = useCallback(
    <T>(path: string, request: ApiRequest = {}): Promise<ApiResult<T>> =>
      mutateAsync([path, request]).catch((failure: ApiError) => ({ ok: false, error: failure })),
    [mutateAsync],
  );
  return { send, busy: isPending, error, clearError: reset };
}

/** A refusal is final. After any other failure, the request may still be running or can be retried. */
const isRefusal = ({ status }: ApiError): boolean =>
  status >= 400 && status < 500 && status !== 409 && status !== 429;
