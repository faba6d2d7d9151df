import StrataModel

/// Reads entries through a consumer that is kept between calls.
extension JetStreamSequencer {
    /// The number of consumers that one call begins after the first.
    private static let maximumRestarts = 2

    package func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        do {
            return try reader.withLock { try entries(after: number, milliseconds: milliseconds, &$0) }
        } catch {
            if stream.isClosed { return [] }
            throw error as? StrataError ?? Self.unreachable(options, error)
        }
    }

    private func entries(
        after number: UInt64, milliseconds: Int, _ consumer: inout OrderedConsumer?
    ) throws -> [[UInt8]] {
        let start = ContinuousClock.now
        var restarts = 0
        while true {
            if stream.isClosed { return [] }
            try checkFloor(number)
            let left = max(0, milliseconds - Int(start.duration(to: .now) / .milliseconds(1)))
            do {
                let current = try running(consumer, after: number)
                consumer = current
                let entries = try current.entries(milliseconds: left)
                let last = number + UInt64(entries.count)
                state.withLock { $0.seen = max($0.seen, last) }
                return entries
            } catch {
                consumer = nil
                guard let interruption = error as? OrderedConsumer.Interruption else { throw error }
                if restarts == Self.maximumRestarts { throw described(interruption, after: number) }
                restarts += 1
            }
        }
    }

    /// Returns the consumer if it continues after `number`; else another one.
    private func running(_ consumer: OrderedConsumer?, after number: UInt64) throws -> OrderedConsumer {
        let connection = try stream.checkedConnection()
        if let consumer, consumer.next == number + 1, consumer.connection === connection,
            consumer.reconnects == connection.reconnects
        {
            return consumer
        }
        // The server begins with the first entry that it has, and does not say that others were trimmed.
        stream.note(try Self.checked(connection, options))
        try checkFloor(number)
        return try OrderedConsumer(connection, options, from: number + 1)
    }

    private func checkFloor(_ number: UInt64) throws {
        let first = stream.first
        guard first > number + 1 else { return }
        throw StrataError(
            .outOfRange, "The sequencer was trimmed past the entry; copy the store from a process that has it.",
            .init(path: options.address, expected: "a number from \(first)", found: "\(number + 1)"))
    }

    private func described(_ interruption: OrderedConsumer.Interruption, after number: UInt64) -> StrataError {
        guard case .hole(let next) = interruption else { return Self.unreachable(options, interruption) }
        return StrataError(
            .brokenSequence, "The stream lacks an entry; its servers may be damaged.",
            .init(path: options.address, expected: "entry \(number + 1)", found: "entry \(next)"))
    }
}
