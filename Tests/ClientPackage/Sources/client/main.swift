import Surface
import SurfaceSwift5

/// Runs what names the surface, compiled in each language mode.
for (mode, check) in [(6, Surface.checkSurface), (5, SurfaceSwift5.checkSurface)] {
    try await check()
    print("Swift \(mode): the surface is as expected")
}
