// Runs in front of everything else on a copy of a report's page: keeps what goes wrong, for check.js.
window.faults = [];
window.addEventListener("error", (event) => window.faults.push(`error: ${event.message ?? event.target}`), true);
window.addEventListener("unhandledrejection", (event) => window.faults.push(`rejection: ${event.reason}`));
document.addEventListener("securitypolicyviolation", (event) =>
  window.faults.push(`the policy forbids ${event.violatedDirective}: ${event.sample || event.blockedURI}`));
console.error = (...words) => window.faults.push(`console: ${words.join(" ")}`);
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
