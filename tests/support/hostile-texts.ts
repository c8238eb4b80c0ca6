import { randomUUID } from "node:crypto";

/**
 * Texts that do harm where they are not shown as text: each is unlike all others, also in its first 50
 * characters. One that ran would leave `hacked` in the window.
 */
export function hostileTexts(): string[] {
  const mark = randomUUID().slice(0, 8);
  return [
    `${mark}<img src=x onerror="window.hacked=1">`,
    `${mark}</p><script>window.hacked=1</script><!--`,
    `${mark}[go](javascript:window.hacked=1) {{7*7}} \${7*7}`,
    `${mark}${"W".repeat(190)}`,
    `${mark}\u202Eedoc sdrawkcab\u202C e\u0301\u0301\u0301\u0301\u0301\u0301 😀`,
  ];
}
