import StrataModel
import StrataReplication
import StrataSystem

/// Carries requests between processes, by subjects that no stream keeps.
extension JetStreamSequencer: RequestCarrier {
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
            body(message.bytes) { answer in try? connection.publish(answer, to: reply) }
        }
    }

    package func ask(_ process: Identifier, _ message: [UInt8], milliseconds: Int) -> CarriedAnswer {
        guard let connection = try? stream.checkedConnection(), let reply = try? connection.newInbox(),
            let answers = try? connection.subscribe(to: reply)
        else { return .undelivered }
        let inbox = inbox(of: process)
        return questions.ask(
            process, milliseconds: milliseconds, needsSign: connection.needsRequest,
            silence: Self.unreachable(options)
        ) { _ in
            (try? connection.request(inbox, [], milliseconds: Self.answerMilliseconds)) != nil
        } send: {
            do { try connection.publish(message, to: inbox, reply: reply) } catch {
                throw Self.unreachable(options, error)
            }
            return true
        } receive: { milliseconds in
            do throws(NATSFailure) {
                let answer = try answers.next(milliseconds: milliseconds)
                return answer.map { $0.isUndelivered ? .undelivered : .answer($0.bytes) }
            } catch {
                if error.status == .noResponders { return .undelivered }
                throw Self.unreachable(options, error)
            }
        }
    }
}
