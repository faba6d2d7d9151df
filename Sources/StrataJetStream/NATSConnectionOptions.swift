import StrataConnections

/// The options of a connection, in the library's form.
final class NATSConnectionOptions {
    private let library: NATSLibrary
    let handle: NATSHandle

    /// A message that the connection could not send is not kept: it would arrive after its sender has given up. The
    /// library takes zero for its own limit.
    private static let reconnectBufferBytes: Int32 = 1
    private static let pingMilliseconds: Int64 = 2_000
    private static let connectMilliseconds: Int64 = 2_000
    private static let longestDelayMilliseconds: Int64 = 2_000

    /// - Throws: ``NATSFailure`` if a file of the options cannot be read.
    init(_ library: NATSLibrary, _ options: JetStreamOptions) throws(NATSFailure) {
        self.library = library
        let pointer = try library.make { library.createOptions($0) }
        handle = NATSHandle(owning: pointer, library.destroyOptions)
        let urls = options.urls
        // The library copies the texts.
        try library.check(CStrings(urls).withPointers { library.setServers(pointer, $0, Int32(urls.count)) })
        try library.check(library.setSendAsap(pointer, true))
        try library.check(library.setFailRequests(pointer, true))
        // Other servers of the cluster may have addresses that are not this machine's.
        try library.check(library.setIgnoreDiscovered(pointer, true))
        try library.check(library.setTimeout(pointer, Self.connectMilliseconds))
        try library.check(library.setReconnectBuffer(pointer, Self.reconnectBufferBytes))
        // A paused server keeps its connections open.
        try library.check(library.setPingInterval(pointer, Self.pingMilliseconds))
        try library.check(library.setPings(pointer, 2))
        try library.check(library.setReconnects(pointer, -1))
        try library.check(library.setDelay(pointer, Self.delay, nil))
        switch options.credentials {
        case .password(let user, let password): try library.check(library.setAccount(pointer, user, password))
        case .file(let path): try library.check(library.setCredentials(pointer, path, nil))
        case nil: break
        }
        if options.isSecure { try library.check(library.setSecure(pointer, true)) }
        if let authority = options.authority { try library.check(library.setAuthority(pointer, authority)) }
    }

    /// The delay after no server could be reached; it doubles up to 2 seconds.
    private static let delay: NATSLibrary.Delay = { _, attempts, _ in
        min(longestDelayMilliseconds, 50 << Int64(min(max(attempts - 1, 0), 10)))
    }
}
