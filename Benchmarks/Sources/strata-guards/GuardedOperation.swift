/// An operation whose costs are guarded, and the number of times that one run does it.
struct GuardedOperation: Sendable {
    let name: String
    /// Runs the operation; returns the number of saves, records or hits that the costs are divided by.
    let run: @Sendable (GuardedStore) throws -> Int

    /// The operations on a store whose commits are durable, and those on one that leaves syncs to the system.
    static let durable = [
        GuardedOperation(name: "durable save, one a request") { store in
            for _ in 0..<500 { try store.save(count: 1) }
            store.settle()
            return 500
        }
    ]

    static let others = [
        GuardedOperation(name: "save, 400 a request") { store in
            for _ in 0..<20 { try store.save(count: 400) }
            store.settle()
            return 20 * 400
        },
        GuardedOperation(name: "fetch by ID") { store in
            try store.fetch(0..<5_000)
            return 5_000
        },
        GuardedOperation(name: "query hit") { store in
            try (0..<50).reduce(0) { try $0 + store.query(bucket: $1) }
        },
        GuardedOperation(name: "feed entry") { try $0.feed() },
    ]

    /// Operations that do everything twice, which must be noticed.
    static let savingTwice = GuardedOperation(name: durable[0].name) { store in
        for _ in 0..<1_000 { try store.save(count: 1) }
        store.settle()
        return 500
    }

    static let fetchingTwice = GuardedOperation(name: "fetch by ID") { store in
        try store.fetch(0..<5_000)
        try store.fetch(0..<5_000)
        return 5_000
    }
}
