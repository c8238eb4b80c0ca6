const STORAGE_KEY = "browser-notifications";

/** Returns whether notifications of the browser were asked for here, and are allowed. */
export const wantsNotifications = (): boolean =>
  "Notification" in window &&
  Notification.permission === "granted" &&
  localStorage.getItem(STORAGE_KEY) === "on";

/** Saves the choice for this browser. Resolves to whether notifications are on, which the person may refuse. */
export async function chooseNotifications(wanted: boolean): Promise<boolean> {
  if (!wanted || !("Notification" in window)) {
    localStorage.removeItem(STORAGE_KEY);
    return false;
  }
  const isAllowed = (await Notification.requestPermission()) === "granted";
  if (isAllowed) localStorage.setItem(STORAGE_KEY, "on");
  return isAllowed;
}
