// Icons: 16 px, drawn with the color of the text.

import type { ComponentChildren } from "preact";

function icon(children: ComponentChildren) {
  return () => (
    <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      {children}
    </svg>
  );
}

export const Logo = icon(<><circle cx="3.5" cy="4" r="1.7" /><circle cx="3.5" cy="12" r="1.7" /><circle cx="12.5" cy="4" r="1.7" /><circle cx="12.5" cy="12" r="1.7" /><path d="M5.2 4h5.6M5 11l6-6" /></>);
export const ServersIcon = icon(<><rect x="2" y="2.5" width="12" height="4.5" rx="1" /><rect x="2" y="9" width="12" height="4.5" rx="1" /><path d="M4.5 4.8h.1M4.5 11.3h.1" /></>);
export const CatalogIcon = icon(<path d="M2.5 3.5h11M2.5 8h11M2.5 12.5h7" />);
export const CallIcon = icon(<path d="M4.5 2.8v10.4L13 8z" />);
export const TrafficIcon = icon(<path d="M4.5 13V3M4.5 3 2 5.5M4.5 3 7 5.5M11.5 3v10M11.5 13 9 10.5M11.5 13l2.5-2.5" />);
export const LoginsIcon = icon(<><circle cx="5.5" cy="10.5" r="3" /><path d="m7.7 8.3 5.3-5.300M11 5l2 2" /></>);
export const PolicyIcon = icon(<path d="M8 1.8 13 3.800v4c0 3-2.2 5.3-5 6.4-2.8-1.1-5-3.4-5-6.400v-4z" />);
export const GatewayIcon = icon(<><circle cx="8" cy="8" r="2" /><path d="M8 2v4M8 10v4M2 8h4M10 8h4" /></>);
export const SearchIcon = icon(<><circle cx="7" cy="7" r="4.2" /><path d="m10.2 10.2 3.3 3.3" /></>);
export const CloseIcon = icon(<path d="m4 4 8 8M12 4l-8 8" />);
export const BackIcon = icon(<path d="M9.5 3 4.5 8l5 5" />);
export const ChevronIcon = icon(<path d="m6 3.5 4.5 4.500L6 12.5" />);
export const SunIcon = icon(<><circle cx="8" cy="8" r="2.8" /><path d="M8 1.500v1.200M8 13.300v1.200M1.5 8h1.200M13.3 8h1.200M3.4 3.400l.9.9M11.7 11.700l.9.9M12.6 3.400l-.9.9M4.3 11.700l-.9.9" /></>);
export const MoonIcon = icon(<path d="M13 9.500A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.500z" />);
export const SystemIcon = icon(<><rect x="2" y="3" width="12" height="8" rx="1" /><path d="M6 13.500h4" /></>);
export const OutIcon = icon(<path d="M2.5 8h10M9 4.5 12.5 8 9 11.5" />);
export const InIcon = icon(<path d="M13.5 8h-10M7 4.5 3.5 8 7 11.5" />);
