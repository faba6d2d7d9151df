import Foundation
import StrataStore

/// Keeps a store open for the objects that use it, and closes it when the last of them is released.
final class HeldStore: Sendable {
    let store: Store

    init(_ store: Store) { self.store = store }

    deinit {
        if store.isClosed { return }
        // On a thread of its own: a thread of the store may release the last object, and closing waits for that thread.
        Thread.detachNewThread { [store] in try? store.close() }
    }
}
