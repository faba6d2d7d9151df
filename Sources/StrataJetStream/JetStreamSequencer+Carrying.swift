import StrataModel
import StrataReplication
import StrataSystem

/// Carries requests between processes, by subjects that no stream keeps.
extension JetStreamSequencer: RequestCarrier {
    /// The time without an answer after which the other process is asked whether it still runs.
    private static let patienceMilliseconds = 1_000
    /// The time after an answer in which the process that gave it is taken to run still.
    private static let trustTime = Duration.seconds(1)

    package var maximumMessageBytes: Int { maximumEntryBytes }

    private func inbox(of process: Identifier) -> String { "strata-home.\(options.stream).\(process)" }

    package func serve(
        _ process: Identifier, _ body: @escaping @Sendable ([UInt8], @escaping Answering) -> Void
    ) throws {
        try server.start(name: "strata-serve") { [self] in
            while !stream.isClosed {
                do { try serveOnce(inbox(of: process), body) } catch { StreamConnection.pause() }
            }
        }
    }

    /// Serves while the connection holds.
    private func serveOnce(
        _ inbox: String, _ body: @escaping @Sendable ([UInt8], @escaping Answering) -> Void
    ) throws {
        let connection = try stream.checkedConnection()
        // The library subscribes again whenever it restores the connection.
        let subscription = try connection.subscribe(to: inbox)
        while !connection.isClosed {
            guard let message = try subscription.next(milliseconds: Self.answerMilliseconds) else { continue }
            guard let reply = message.reply else { continue }
            body(message.bytes) { answer in try? connection.publish(answer, to: reply, reply: nil) }
        }
    }

    package func ask(_ process: Identifier, _ message: [UInt8], milliseconds: Int) -> CarriedAnswer {
        guard let connection = try? stream.checkedConnection(), let reply = try? connection.newInbox(),
            let answers = try? connection.subscribe(to: reply)
        else { return .undelivered }
        let (inbox, start) = (inbox(of: process), ContinuousClock.now)
        let isKnown = answered.withLock { $0?.process == process && start - ($0?.time ?? start) < Self.trustTime }
        // Nothing was sent to a process that gives no sign of life.
        if !isKnown || connection.needsRequest,
            (try? connection.request(inbox, [], milliseconds: Self.answerMilliseconds)) == nil
        {
            return .undelivered
        }
        do throws(NATSFailure) {
            try connection.publish(message, to: inbox, reply: reply)
            while start.duration(to: .now) < .milliseconds(milliseconds) {
                if let answer = try next(answers, milliseconds: Self.patienceMilliseconds) { return answer }
                do throws(NATSFailure) {
                    _ = try connection.request(inbox, [], milliseconds: Self.answerMilliseconds)
                } catch {
                    // The answer may have come just before the process ended.
                    if let answer = try next(answers, milliseconds: 0) { return answer }
                    throw error
                }
            }
            return .unknown(Self.unreachable(options))
        } catch { return .unknown(Self.unreachable(options, error)) }

        func next(_ answers: NATSSubscription, milliseconds: Int) throws(NATSFailure) -> CarriedAnswer? {
            do throws(NATSFailure) {
                guard let answer = try answers.next(milliseconds: milliseconds) else { return nil }
                if answer.isUndelivered { return .undelivered }
                answered.withLock { $0 = (process, .now) }
                return .answer(answer.bytes)
            } catch {
                if error.status == .noResponders { return .undelivered }
                throw error
            }
        }
    }
}
