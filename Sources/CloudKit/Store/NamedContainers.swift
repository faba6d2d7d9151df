import Foundation
import StrataModel
import StrataSystem

/// Allows `CKContainer(identifier:)` to return an existing object, which a class initializer cannot do.
public protocol NamedContainer {}

extension NamedContainer where Self == CKContainer {
    /// Returns the container with a name; the same object for the same name.
    ///
    /// Its store is `$STRATA_HOME/<identifier>.strata`, by default under the user's data directory. The user is
    /// `$STRATA_USER`, or else the login user. The device is `$STRATA_DEVICE`, or else a random name that is stored
    /// next to the stores.
    public init(identifier containerIdentifier: String) {
        self = NamedContainers.shared.container(containerIdentifier)
    }
}

/// The containers that this program opened by name. They stay open until it ends.
final class NamedContainers: Sendable {
    static let shared = NamedContainers(ProcessInfo.processInfo.environment)

    static var defaultIdentifier: String {
        "iCloud." + (Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)
    }

    private struct Known {
        let container: CKContainer
        let store: CloudStore?
    }

    private let environment: [String: String]
    private let known = Lock<[ExactName: Known]>([:])

    init(_ environment: [String: String]) { self.environment = environment }

    func container(_ identifier: String) -> CKContainer {
        known.withLock { known in
            if let open = known[ExactName(text: identifier)], open.store != nil { return open.container }
            do {
                let store = try open(identifier)
                let container = store.container(user: user, device: try device())
                known[ExactName(text: identifier)] = Known(container: container, store: store)
                return container
            } catch {
                // The next call tries again, since the other process may have ended by then. The container is kept
                // until then, since a program may refer to its databases weakly.
                let actor = Actor(user: user, device: "")
                let client = Client(failure: CKError(opening: identifier, error), actor, identifier: identifier)
                let container = client.container
                known[ExactName(text: identifier)] = Known(container: container, store: nil)
                return container
            }
        }
    }

    // MARK: Where and who

    private var user: String {
        if let user = environment["STRATA_USER"], !user.isEmpty { return user }
        return NSUserName()
    }

    private var home: String {
        if let home = environment["STRATA_HOME"], !home.isEmpty { return home }
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/strata" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/share/strata"
    }

    private func open(_ identifier: String) throws -> CloudStore {
        guard !identifier.isEmpty, identifier.utf8.count <= 200, !identifier.hasPrefix("."),
            !identifier.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 < 0x20 })
        else {
            throw CKError(.badContainer, message: "'\(identifier)' is not a valid container identifier.")
        }
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        var options = CloudStore.Options.service
        options.containerIdentifier = identifier
        return try CloudStore(at: URL(fileURLWithPath: "\(home)/\(identifier).strata"), options: options)
    }

    /// Returns the name of this machine in all its stores, which is generated on first use.
    private func device() throws -> String {
        if let device = environment["STRATA_DEVICE"], !device.isEmpty { return device }
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
