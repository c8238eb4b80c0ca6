"use client";
import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { chooseTheme, type Theme } from "@/app/(console)/_hooks/theme.ts";
import { Button } from "../_ui/button.tsx";
import { useFrame } from "./frame.tsx";

const order = ["system", "light", "dark"] as const;
const icons = { system: Monitor, light: Sun, dark: Moon };
const names = { system: "as the system", light: "light", dark: "dark" };

/** One button that goes round the three choices. */
export function ThemeToggle() {
  const [theme, setTheme] = useState<Theme>(useFrame().theme);
  const next = order[(order.indexOf(theme) + 1) % order.length] ?? "system";
  const Icon = icons[theme];
  const label = `Colours: ${names[theme]}. Change to ${names[next]}`;
  return (
    <Button
      variant="ghost"
      size="icon"
      aria-label={label}
      title={label}
      onClick={() => {
        chooseTheme(next);
        setTheme(next);
      }}
    >
      <Icon aria-hidden />
    </Button>
  );
}
