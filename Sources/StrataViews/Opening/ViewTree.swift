/// The trees of a store (docs/format-keys.md §3). Each is declared beside its ``ViewMaintainer``.
package enum ViewTree {}
