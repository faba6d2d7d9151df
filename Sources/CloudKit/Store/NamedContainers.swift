import Foundation
import StrataModel
import StrataSystem

/// Allows `CKContainer(identifier:)` to return an existing object, which a class initializer cannot do.
public protocol NamedContainer {}

// For `Self` rather than for the class itself, so that `Self(identifier:)` compiles in clients' extensions.
extension NamedContainer where Self: CKContainer {
    /// Returns the container with a name; the same object for the same name.
    ///
    /// Its store, user and device are those of ``CloudStore/use(_:forContainer:user:device:)``. Otherwise its store is
    /// `$STRATA_HOME/<identifier>.strata`, by default under the user's data directory, with the options
    /// `$STRATA_OPTIONS`; if `STRATA_HOME` is `:memory:`, it is in memory. The user is `$STRATA_USER`, or else the
    /// login user. The device is `$STRATA_DEVICE`, or else a random name that is stored next to the stores.
    public init(identifier containerIdentifier: String) {
        guard let container = NamedContainers.shared.container(containerIdentifier) as? Self else {
            preconditionFailure("CKContainer has no subclasses.")
        }
        self = container
    }
}

/// The containers of this program by name. Those that it opened stay open until it ends.
final class NamedContainers: Sendable {
    static let shared = NamedContainers(ProcessInfo.processInfo.environment)

    static var defaultIdentifier: String {
        "iCloud." + (Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)
    }

    struct Known {
        let container: CKContainer
        let store: CloudStore?
    }

    /// The containers whose store the current task chose.
    @TaskLocal static var ofTask: [ExactName: Known] = [:]

    private let environment: [String: String]
    private let known = Lock<[ExactName: Known]>([:])
    /// The containers whose store the program chose.
    private let used = Lock<[ExactName: Known]>([:])

    init(_ environment: [String: String]) { self.environment = environment }

    /// - Parameter ofTask: The containers of the task that asks, or of the task that will use the container.
    func container(_ identifier: String, ofTask: [ExactName: Known] = NamedContainers.ofTask) -> CKContainer {
        let name = ExactName(text: identifier)
        if let chosen = ofTask[name] ?? used.withLock({ $0[name] }) { return chosen.container }
        return known.withLock { known in
            if let open = known[name], open.store != nil { return open.container }
            do {
                let store = try open(identifier)
                let container = store.container(user: user, device: try device())
                known[name] = Known(container: container, store: store)
                return container
            } catch {
                // The next call tries again, since the other process may have ended by then. The container is kept
                // until then, since a program may refer to its databases weakly.
                let actor = Actor(user: user, device: "")
                let client = Client(failure: CKError(opening: identifier, error), actor, identifier: identifier)
                let container = client.container
                known[name] = Known(container: container, store: nil)
                return container
            }
        }
    }

    // MARK: Stores of the program's choice

    /// Sets the container with a name, until another is set; nil to open it again by its name.
    func use(_ container: Known?, for name: ExactName) { used.withLock { $0[name] = container } }

    // MARK: Where and who

    var user: String {
        if let user = environment["STRATA_USER"], !user.isEmpty { return user }
        return NSUserName()
    }

    private var home: String {
        if let home = environment["STRATA_HOME"], !home.isEmpty { return home }
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/strata" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/share/strata"
    }

    private static let memory = ":memory:"

    private func open(_ identifier: String) throws -> CloudStore {
        try Self.requireValid(identifier)
        var options = try CloudStore.Options(environment["STRATA_OPTIONS"] ?? "")
        options.containerIdentifier = identifier
        if home == Self.memory { return try CloudStore.inMemory(options: options) }
        guard !home.hasPrefix(":") else {
            throw CKError(
                .invalidArguments, message: "STRATA_HOME is '\(home)'; it is a directory, or '\(Self.memory)'.")
        }
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        return try CloudStore(at: URL(fileURLWithPath: "\(home)/\(identifier).strata"), options: options)
    }

    static func requireValid(_ identifier: String) throws(CKError) {
        guard !identifier.isEmpty, identifier.utf8.count <= 200, !identifier.hasPrefix("."),
            !identifier.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 < 0x20 })
        else {
            throw CKError(.badContainer, message: "'\(identifier)' is not a valid container identifier.")
        }
    }

    /// The device of the environment; nil without one.
    var namedDevice: String? { environment["STRATA_DEVICE"].flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns the name of this machine in all its stores, which is generated on first use.
    private func device() throws -> String {
        if let namedDevice { return namedDevice }
        if home == Self.memory { return "default" }
        let files = RealFileSystem()
        let path = home + "/device"
        func known() throws -> String? {
            guard try files.exists(path) else { return nil }
            let name = String(decoding: try files.readAll(path, atMost: 255), as: UTF8.self)
            let device = name.trimmingCharacters(in: .whitespacesAndNewlines)
            return device.isEmpty ? nil : device
        }
        if let device = try known() { return device }
        // If two programs do this at once, each writes its own draft, and the first name stays.
        let device = SystemRandom().nextIdentifier().description
        let draft = "\(path).\(device)"
        try files.replace(draft, in: home, with: [UInt8]((device + "\n").utf8))
        defer { try? files.remove(draft) }
        return link(draft, path) == 0 ? device : try known() ?? device
    }
}

extension CKError {
    /// Creates the error of a container whose store cannot be opened, with advice.
    fileprivate init(opening identifier: String, _ error: any Error) {
        let reported = CKError(engine: error)
        let cause = reported.userInfo[NSUnderlyingErrorKey] as? StrataError
        let advice: String
        switch cause?.code {
        case .locked?:
            let holder = cause?.context.found ?? "Another process"
            advice = "\(holder) has the store open; end that process, or set STRATA_HOME to another directory."
        case .permissionDenied?, .readOnlyMedium?:
            advice = "Give this user permission to write there, or set STRATA_HOME to another directory."
        default: advice = reported.localizedDescription
        }
        self.init(
            reported.code, message: "The store of the container '\(identifier)' cannot be opened. \(advice)",
            cause: cause ?? error)
    }
}
