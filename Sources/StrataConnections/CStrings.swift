/// Strings as C takes a list of them: pointers, and nil after the last one.
package struct CStrings {
    private let bytes: [CChar]
    private let starts: [Int]

    package init(_ strings: [String]) {
        var (bytes, starts): ([CChar], [Int]) = ([], [])
        for string in strings {
            starts.append(bytes.count)
            bytes += string.utf8CString
        }
        (self.bytes, self.starts) = (bytes, starts)
    }

    package func withPointers<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            // Each start is within the bytes, which are at their address until `body` returns.
            let pointers = starts.map { start in buffer.baseAddress.map { $0 + start } } + [nil]
            return pointers.withUnsafeBufferPointer { pointers in
                // Not empty: the last one is nil.
                body(pointers.baseAddress!)
            }
        }
    }
}
