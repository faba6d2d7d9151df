import Glibc

/// Returns the bytes on the disk of a file, or of a folder with all of its files; 0 for a missing one.
func allocatedBytes(of path: String) -> Double {
    var status = stat()
    guard lstat(path, &status) == 0 else { return 0 }
    var bytes = Double(status.st_blocks) * 512
    guard let stream = opendir(path) else { return bytes }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
        let name = entryName(entry)
        if name != ".", name != ".." { bytes += allocatedBytes(of: "\(path)/\(name)") }
    }
    return bytes
}

func removeTree(_ path: String) {
    guard let stream = opendir(path) else { return }
    while let entry = readdir(stream) {
        let name = entryName(entry)
        if name == "." || name == ".." { continue }
        if unlink("\(path)/\(name)") != 0 { removeTree("\(path)/\(name)") }
    }
    closedir(stream)
    rmdir(path)
}

private func entryName(_ entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

let mebibyte = 1_048_576.0
