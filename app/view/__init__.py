"""Drawing the water: camera, picking, GL objects, transfer of heights, shading. Knows no simulation code."""
