import StrataConnections
import StrataModel
import StrataReplication
import StrataSystem

/// Messages between the processes of a store, as notifications, of which PostgreSQL keeps nothing
/// (docs/replication-internals.md §6).
///
/// Each process listens on channels with random names. A role learns the name of another process's channel from its
/// entries, or from the server's statistics and logs; others cannot send it anything. A request has a random number,
/// which its answer must have, so only a process that received the request can answer it.
final class PostgresMail: Sendable {
    typealias Serving = @Sendable ([UInt8], @escaping RequestCarrier.Answering) -> Void

    private struct State {
        /// The channels to listen on, and those of the connection.
        var channels: [String]
        var heard: [String] = []
        var serving: Serving?
        /// The requests whose answer is awaited, by their numbers.
        var waits: [UInt64: Wait] = [:]
        var hasBegun = false
        var isClosed = false
    }

    private struct Wait {
        /// The process that gave the first sign or answer: no other one is listened to.
        var sender: Identifier?
        var hasSign = false
        var answer: [UInt8]?
    }

    private enum Sending {
        case done, failed
        /// The connection was lost, or the server is silent.
        case unknown
    }

    private static let answerTime = Duration.seconds(2)
    /// The time in which a process gives a sign of life before it is sent a request. One that is late costs little: the
    /// request is judged here.
    private static let firstSignMilliseconds = 300
    /// The same after it was sent one, whose outcome is unknown without it.
    private static let signMilliseconds = 2_000
    private static let pauseMilliseconds = 100

    private let options: PostgresOptions
    private let library: PQLibrary
    private let closing: SocketSignal
    /// Set when there is another channel to listen on.
    private let change: SocketSignal
    private let random: any RandomSource
    /// Names the channel of the answers to this process.
    private let own: Identifier
    private let sending: Lock<PostgresLink>
    /// The link for questions and signs of life, which must not wait behind requests and answers.
    private let signing: Lock<PostgresLink>
    private let state: Monitor<State>
    private let receiver = WorkerHandle()
    private let questions = CarriedQuestions()

    init(_ options: PostgresOptions, _ library: PQLibrary, closing: SocketSignal) throws {
        (self.options, self.library, self.closing) = (options, library, closing)
        change = try SocketSignal()
        random = Platform().random
        own = random.nextIdentifier()
        sending = Lock(PostgresLink(options, library, closing: closing))
        signing = Lock(PostgresLink(options, library, closing: closing))
        state = Monitor(State(channels: [PostgresMessage.channel(of: own)]))
    }

    /// Ends the waits and the thread; the closing signal must be set.
    func close() {
        state.withLock { $0.isClosed = true }
        state.notifyAll()
        for link in [sending, signing] { link.withLock { $0.drop() } }
        receiver.join()
    }

    // MARK: Receiving

    func serve(_ process: Identifier, _ body: @escaping Serving) throws {
        state.withLock { state in
            state.serving = body
            state.channels.append(PostgresMessage.channel(of: process))
        }
        change.set()
        try begin()
    }

    /// Starts the thread that receives, if it does not run.
    private func begin() throws {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun && !state.isClosed
        }
        guard isFirst else { return }
        do { try receiver.start(name: "strata-mail") { [self] in receive() } } catch {
            state.withLock { $0.hasBegun = false }
            throw error
        }
    }

    private func receive() {
        var link: PostgresLink?
        while !closing.isSet {
            change.clear()
            let (channels, heard) = state.withLock { ($0.channels, $0.heard) }
            if channels != heard || link == nil {
                link = PostgresLink(options, library, closing: closing, listeningOn: channels)
            }
            guard let link else { continue }
            do { try link.connect(until: .now + Self.answerTime) } catch {
                _ = SocketSignal.wait(for: nil, or: [closing], until: .now + .milliseconds(Self.pauseMilliseconds))
                continue
            }
            state.withLock { $0.heard = channels }
            state.notifyAll()
            receive(from: link)
            // Messages that others sent since the connection was lost did not arrive.
            state.withLock { $0.heard = [] }
            questions.forget()
        }
    }

    /// Takes what comes until the connection is lost, or there is another channel.
    private func receive(from link: PostgresLink) {
        var collector = PostgresMessage.Collector()
        while !change.isSet, !closing.isSet, link.isConnected() {
            for text in link.notifications() {
                // There may be any number of them.
                if closing.isSet { return }
                if let message = collector.take(text) { take(message) }
            }
            guard link.waitForInput(or: [change], until: .now + Self.answerTime) == .timeout else { continue }
            // A primary that another one replaced while it stood still sends nothing, and does not end the connection.
            guard (try? link.ask(.standbys, until: .now + Self.answerTime)) != nil else { return }
        }
    }

    private func take(_ message: PostgresMessage) {
        switch message.kind {
        case .question:
            send(PostgresMessage(kind: .sign, number: message.number, sender: own), to: message.sender)
        case .request:
            guard let serving = state.withLock({ $0.serving }) else { return }
            serving(message.bytes) { [weak self] answer in
                guard let self else { return }
                let answer = PostgresMessage(kind: .answer, number: message.number, sender: own, bytes: answer)
                send(answer, to: message.sender)
            }
        case .sign: note(message) { $0.hasSign = true }
        case .answer: note(message) { $0.answer = message.bytes }
        }
    }

    private func note(_ message: PostgresMessage, _ body: (inout Wait) -> Void) {
        state.withLock { state in
            // Without a wait the answer came too late.
            guard var wait = state.waits[message.number], [nil, message.sender].contains(wait.sender) else { return }
            wait.sender = message.sender
            body(&wait)
            state.waits[message.number] = wait
        }
        state.notifyAll()
    }

    // MARK: Sending

    @discardableResult
    private func send(_ message: PostgresMessage, to process: Identifier) -> Sending {
        (message.kind.isShort ? signing : sending).withLock { link in
            let deadline = ContinuousClock.now + Self.answerTime
            do { try link.connect(until: deadline) } catch { return .failed }
            // Not sent again on another connection: a request must not arrive twice.
            guard link.send(message.statement(to: process)),
                case .answer(let answer) = link.receive(until: deadline)
            else { return .unknown }
            return answer.isRefusal ? .failed : answer.failure == nil ? .done : .unknown
        }
    }

    func ask(_ process: Identifier, _ message: [UInt8], milliseconds: Int) -> CarriedAnswer {
        guard (try? begin()) != nil, isListening() else { return .undelivered }
        let number = random.nextIdentifier().high
        state.withLock { $0.waits[number] = Wait() }
        defer { state.withLock { $0.waits[number] = nil } }
        return questions.ask(process, milliseconds: milliseconds, silence: silenceError) { isFirst in
            isThere(process, number, milliseconds: isFirst ? Self.firstSignMilliseconds : Self.signMilliseconds)
        } send: {
            send(PostgresMessage(kind: .request, number: number, sender: own, bytes: message), to: process) != .failed
        } receive: { milliseconds in
            answer(number, milliseconds: milliseconds).map { .answer($0) }
        }
    }

    /// Waits until the server gives this process the answers to what it sends.
    private func isListening() -> Bool {
        let isListening = state.wait(milliseconds: Self.firstSignMilliseconds) { state in
            state.isClosed ? false : state.heard.isEmpty ? nil : true
        }
        return isListening ?? false
    }

    /// Asks a process whether it is there.
    private func isThere(_ process: Identifier, _ number: UInt64, milliseconds: Int) -> Bool {
        state.withLock { $0.waits[number]?.hasSign = false }
        send(PostgresMessage(kind: .question, number: number, sender: own), to: process)
        let isThere = state.wait(milliseconds: milliseconds) { state -> Bool? in
            if state.isClosed { return false }
            return state.waits[number].map { $0.hasSign || $0.answer != nil } == true ? true : nil
        }
        return isThere ?? false
    }

    private func answer(_ number: UInt64, milliseconds: Int) -> [UInt8]? {
        let answer = state.wait(milliseconds: milliseconds) { state -> [UInt8]?? in
            if let answer = state.waits[number]?.answer { return answer }
            return state.isClosed ? .some(nil) : nil
        }
        return answer ?? nil
    }

    private var silenceError: StrataError {
        StrataError(
            .unreachable, "The home writer does not answer; the request may have been applied.",
            .init(path: options.description))
    }
}
